import { access, mkdir, mkdtemp, readFile, readdir, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Order, Outcome } from "../../../../src/server/child";
import { clearOld, discardEnvironment, environmentName, madeEnvironment, makeEnvironment, type Making, stepOf } from "../../../../src/server/environment/environment";
import type { TroubleError } from "../../../../src/server/trouble";

const wheel = { file: "/x/loop.whl", requirements: "/x/requirements.txt", version: "0.1.0", sha256: "ab".repeat(32), oldestPython: [3, 11] as const };
const fine: Outcome = { ending: "exited", code: 0, stdout: "", stderr: "" };
const python = async () => "/usr/bin/python3";

let root: string;
let steps: string[];
let orders: Order[];
beforeEach(async () => {
  root = path.join(await mkdtemp(path.join(tmpdir(), "own-")), "server");
  [steps, orders] = [[], []];
});
afterEach(() => rm(path.dirname(root), { recursive: true, force: true }));

/** A `venv` that makes a program, and a pip that answers as told. */
function making(pip: (order: Order) => Promise<Outcome> | Outcome = () => fine, signal = new AbortController().signal): Making {
  const run = async (order: Order): Promise<Outcome> => {
    orders.push(order);
    if (order.args.includes("venv")) {
      const bin = path.join(order.args.at(-1) ?? "", "bin");
      await mkdir(bin, { recursive: true });
      await writeFile(path.join(bin, "python"), "", { mode: 0o755 });
      return fine;
    }
    return order.args.includes("pip") ? pip(order) : fine;
  };
  return { root, wheel, run, env: {}, signal, windows: false, report: (step) => steps.push(step), log: () => undefined };
}

async function troubleOf(work: Promise<unknown>) {
  return work.then(
    () => undefined,
    (error: TroubleError) => error.trouble,
  );
}

test("it is made aside, stamped, moved to its place, and found again", async () => {
  const own = await makeEnvironment(making(), python);
  expect(own).toBe(path.join(root, "0.1.0-abababababab", "bin", "python"));
  expect(await readdir(root)).toEqual(["0.1.0-abababababab"]);
  expect(await madeEnvironment(root, wheel, false)).toBe(own);
  expect(JSON.parse(await readFile(path.join(root, environmentName(wheel), "loop-ls.json"), "utf8"))).toMatchObject({ version: "0.1.0", python: "/usr/bin/python3" });
  expect(steps).toEqual(["an environment", "its packages"]);
  const install = orders.find((order) => order.args.includes("install"));
  expect(install?.args.slice(-3)).toEqual(["--requirement", wheel.requirements, wheel.file]);
  expect(install?.limit).toBeLessThanOrEqual(15 * 60_000);
});

test("nothing is left of one that could not be finished, and none is found", async () => {
  const failed: Outcome = { ...fine, code: 1, stderr: "ERROR: No matching distribution found for dbos" };
  expect(await troubleOf(makeEnvironment(making(() => failed), python))).toMatchObject({ kind: "packages", because: "not_found" });
  expect(await readdir(root)).toEqual([]);
  expect(await madeEnvironment(root, wheel, false)).toBeUndefined();
});

test("what a window that died left half made is cleared away, not used", async () => {
  await mkdir(path.join(root, "building-77-old", "bin"), { recursive: true });
  await mkdir(path.join(root, environmentName(wheel), "bin"), { recursive: true });
  await writeFile(path.join(root, environmentName(wheel), "bin", "python"), "", { mode: 0o755 });
  expect(await madeEnvironment(root, wheel, false)).toBeUndefined();
  await makeEnvironment(making(), python);
  expect(await readdir(root)).toEqual([environmentName(wheel)]);
});

test("another build of the same version is not taken for this one", async () => {
  await makeEnvironment(making(), python);
  expect(await madeEnvironment(root, { ...wheel, sha256: "cd".repeat(32) }, false)).toBeUndefined();
});

test("one whose Python was uninstalled is made anew", async () => {
  const own = await makeEnvironment(making(), python);
  await rm(own);
  expect(await madeEnvironment(root, wheel, false)).toBeUndefined();
  expect(await makeEnvironment(making(), python)).toBe(own);
});

test("two windows make it once", async () => {
  let installs = 0;
  const slow = async () => {
    installs += 1;
    await new Promise((resolve) => setTimeout(resolve, 50));
    return fine;
  };
  const [one, other] = await Promise.all([makeEnvironment(making(slow), python), makeEnvironment(making(slow), python)]);
  expect(one).toBe(other);
  expect(installs).toBe(1);
  expect(steps).toContain("another window is already doing this");
});

test("the lock of a window that died is taken over", async () => {
  await mkdir(root, { recursive: true });
  await writeFile(path.join(root, "lock"), "1");
  const longAgo = new Date(Date.now() - 60_000);
  await utimes(path.join(root, "lock"), longAgo, longAgo);
  await expect(makeEnvironment(making(), python)).resolves.toContain("0.1.0");
});

test("cancelled while it waits or installs: told as that, and nothing is left", async () => {
  const cancelling = new AbortController();
  const cancelled = () => {
    cancelling.abort();
    return { ...fine, ending: "cancelled", code: null } as Outcome;
  };
  expect(await troubleOf(makeEnvironment(making(cancelled, cancelling.signal), python))).toEqual({ kind: "cancelled" });
  expect(await readdir(root)).toEqual([]);
});

test("a folder that cannot be made is told with its reason", async () => {
  await writeFile(root, "a file where the folder should be");
  expect(await troubleOf(makeEnvironment(making(), python))).toMatchObject({ kind: "not_writable", folder: root, because: "EEXIST" });
});

test("a Python that fails to make an environment is told with what it said", async () => {
  const failing: Making = { ...making(), run: async () => ({ ...fine, code: 1, stderr: "ensurepip is not available" }) };
  expect(await troubleOf(makeEnvironment(failing, python))).toEqual({ kind: "no_environment", python: "/usr/bin/python3", said: "ensurepip is not available" });
});

test("old ones go when nothing runs from them, never this one and nothing else", async () => {
  await makeEnvironment(making(), python);
  for (const name of ["0.0.9-111111111111", "0.0.8-222222222222", "notes"]) await mkdir(path.join(root, name));
  const cleared = await clearOld(root, wheel, async (folder) => folder.includes("0.0.8"));
  expect(cleared).toEqual(["0.0.9-111111111111"]);
  expect((await readdir(root)).sort()).toEqual(["0.0.8-222222222222", environmentName(wheel), "notes"]);
});

test("a discarded one is made anew in its place", async () => {
  const own = await makeEnvironment(making(), python);
  await discardEnvironment(root, wheel);
  expect(await madeEnvironment(root, wheel, false)).toBeUndefined();
  await access(own); // a server that still runs from it keeps its files until then
});

test.each([
  ["Collecting pydantic<3,>=2.11", "its packages: pydantic"],
  ["Installing collected packages: a, b", "installing"],
  ["  Downloading pydantic-2.12.whl (2.1 MB)", undefined],
])("pip's line %s means %s", (line, step) => expect(stepOf(line)).toBe(step));
