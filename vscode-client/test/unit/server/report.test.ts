import { expect, test } from "vitest";
import { type Findings, problems, report } from "../../../src/server/report";
import { tell } from "../../../src/server/sentences";

const fine: Findings = {
  extension: "0.1.0",
  editor: "code-server 1.139.1",
  platform: "linux x64",
  remote: undefined,
  status: "ready",
  trouble: undefined,
  program: { command: "/w/.venv/bin/loop-ls", args: ["serve"], origin: "workspace", pid: 42, version: "0.1.0" },
  versionSentence: undefined,
  carried: "0.1.0",
  environment: undefined,
  pythons: [],
  engine: { ok: true, engine: { running: 2, pid: 43, version: "0.1.0", dataDir: "/d", port: 4711, token: "t0ken" } },
  trusted: true,
  folders: ["/w"],
  settings: [],
  yaml: undefined,
  proxy: undefined,
};

test("where all is well, the report says so first", () => {
  expect(problems(fine)).toEqual([]);
  expect(report(fine)).toMatch(/^# Loop: Doctor\n\n\*\*No problems found\.\*\*\n\n## Server/);
  expect(report(fine)).toContain("| Program | `/w/.venv/bin/loop-ls serve` |");
  expect(report(fine)).toContain("| Active runs | 2 |");
});

test("the page is there before everything is found, and claims nothing that is not known yet", () => {
  const early = { ...fine, carried: undefined, engine: undefined, looking: true };
  const text = report(early);
  expect(text).toMatch(/^# Loop: Doctor\n\nLooking for Python and the engine…\n\n## Server/);
  expect(text).not.toMatch(/No problems|no server|Not needed|did not respond/);
  expect(report({ ...early, trusted: false })).toContain("**1 problem.**");
});

test("each problem comes with how to mend it, the server's first", () => {
  const trouble = tell({ kind: "no_python", tried: [] });
  const settings = [{ sentence: "`provider` is no key.", mend: "It is defined in .loop-ls.yaml, line 3." }];
  const text = report({ ...fine, program: undefined, engine: undefined, status: "missing", trouble, trusted: false, settings });
  expect(text).toContain("**3 problems.**");
  expect(text).toContain(`1. **${trouble.sentence}**\n\n   Fix: ${trouble.mend}`);
  expect(text).toContain("2. **This workspace is not trusted");
  expect(text).toContain("3. **`provider` is no key.**\n\n   Fix: It is defined in .loop-ls.yaml, line 3.");
  expect(text).toContain("Unknown: the server is not running.");
});

test("every Python that was tried is listed with what it said", () => {
  const from = "the PATH";
  const text = report({
    ...fine,
    pythons: [
      { candidate: { command: "python3", args: [], from }, finding: { kind: "too_old", executable: "/usr/bin/python3", version: [3, 9, 2] } },
      { candidate: { command: "python", args: [], from }, finding: { kind: "missing" } },
      { candidate: { command: "py", args: ["-3"], from }, finding: { kind: "broken", because: "a | in it" } },
    ],
  });
  expect(text).toContain("| `python3` | the PATH | 3.9.2, too old: `/usr/bin/python3` |");
  expect(text).toContain("| `python` | the PATH | not there |");
  expect(text).toContain("| `py -3` | the PATH | does not work: a \\| in it |");
});

test("no secret is shown: no token, no password in an address", () => {
  const told = { ...tell({ kind: "no_wheel" }), said: "GET https://me:s3cret@pypi.example/simple" };
  const text = report({ ...fine, trouble: told, proxy: "http://user:hunter2@proxy:3128" });
  expect(text).not.toMatch(/t0ken|s3cret|hunter2/);
  expect(text).toContain("http://****@proxy:3128");
});

test("an engine that is not there is no problem", () => {
  const text = report({ ...fine, engine: { ok: true, engine: { running: false } } });
  expect(text).toContain("Not running; the first run starts it.");
  expect(text).toContain("No problems found");
});

test("the YAML extension beside us is named, and whether it checks the same files", () => {
  expect(report({ ...fine, yaml: { name: "YAML", version: "1.20.0", validates: true } })).toContain("YAML 1.20.0, checks YAML files, too");
});
