import { expect, test } from "vitest";
import { LABELS, tell } from "../../../src/server/sentences";
import type { Tried } from "../../../src/server/environment/python";
import type { Trouble } from "../../../src/server/trouble";
import { fit, versionSentence } from "../../../src/server/versions";

const onPath = { command: "python3", args: [], from: "the PATH" };
const old: Tried = { candidate: onPath, finding: { kind: "too_old", executable: "/usr/bin/python3", version: [3, 9, 2] } };
const bare: Tried = { candidate: onPath, finding: { kind: "no_venv", executable: "/usr/bin/python3", version: [3, 11, 2] } };
const gone: Tried = { candidate: onPath, finding: { kind: "missing" } };
const set: Tried = { candidate: { ...onPath, command: "/opt/py", from: "the setting loopLs.server.python" }, finding: { kind: "missing" } };

const because = ["unreachable", "proxy", "certificate", "not_found", "disk_full", "limit", "unknown"] as const;
const ALL: Trouble[] = [
  { kind: "no_python", tried: [gone] },
  { kind: "no_python", tried: [old] },
  { kind: "no_python", tried: [bare] },
  { kind: "no_python", tried: [set] },
  { kind: "not_writable", folder: "/x", because: "EACCES" },
  { kind: "no_environment", python: "/usr/bin/python3", said: "" },
  ...because.map((one) => ({ kind: "packages", because: one, said: "" }) as const),
  { kind: "no_wheel" },
  { kind: "cancelled" },
  { kind: "wrong_command", command: "/nope", because: "missing" },
  { kind: "wrong_command", command: "/etc", because: "not_a_program" },
  { kind: "not_started", command: "/x", because: "EACCES" },
  { kind: "silent", command: "python3", seconds: 30 },
  { kind: "ended_at_once", command: "/bin/false", said: "usage: nothing\nboom." },
  { kind: "keeps_ending", times: 4 },
];

test.each(ALL.map((trouble) => [`${trouble.kind}`, trouble] as const))("%s is one sentence with a way out", (_kind, trouble) => {
  const told = tell(trouble);
  expect(told.sentence).toMatch(/^\S.*[.?]$/);
  expect(told.sentence).not.toMatch(/\n|undefined|\bmight\b|\bInvalid\b/);
  expect(told.mend).toMatch(/\.$/);
  expect(told.ways.length).toBeGreaterThan(0);
  for (const way of told.ways) expect(LABELS[way]).toBeTruthy();
});

test("the most useful of what was tried is told", () => {
  expect(tell({ kind: "no_python", tried: [gone, old] }).sentence).toBe(
    "Python 3.9.2 (/usr/bin/python3) is too old for Loop's server, which needs Python 3.11 or newer.",
  );
  expect(tell({ kind: "no_python", tried: [old, bare] }).mend).toContain("apt install python3-venv");
  expect(tell({ kind: "no_python", tried: [set] }).sentence).toContain("/opt/py (setting loopLs.server.python)");
});

test("a program that ended at once is told with its last line", () => {
  expect(tell({ kind: "ended_at_once", command: "/bin/x", said: "usage\nboom." }).sentence).toBe("/bin/x ended before it answered: boom.");
});

test.each([
  ["0.1.0", "0.1.7", "same"],
  ["0.2.0", "0.1.9", "older"],
  ["0.2.0", "0.3.0", "newer"],
  ["1.0.0", "0.9.0", "older"],
  ["0.10.0", "0.9.0", "older"],
  ["0.1.0", undefined, "unknown"],
  ["0.1.0", "dev", "unknown"],
] as const)("an extension %s with a server %s: %s", (client, server, expected) => {
  expect(fit(client, server)).toBe(expected);
});

test("a version that does not fit is told with where the server is from and what to do", () => {
  expect(versionSentence("0.2.0", "0.2.3", "/x", "path")).toBeUndefined();
  expect(versionSentence("0.2.0", "0.1.0", "/w/.venv/bin/loop-ls", "workspace")).toBe(
    "/w/.venv/bin/loop-ls (from this folder's .venv) is loop-ls 0.1.0, older than this extension (0.2.0), so some of its commands may be missing: update it with pip install -U loop-ls there.",
  );
  expect(versionSentence("0.1.0", "0.2.0", "/x", "path")).toContain("update the extension");
});
