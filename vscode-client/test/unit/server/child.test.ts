import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { expect, test, vi } from "vitest";
import { type Order, runChild } from "../../../src/server/child";
import { inUse } from "../../../src/server/environment/inUse";

const node = (program: string, more: Partial<Order> = {}): Order => ({
  command: process.execPath, args: ["-e", program], cwd: tmpdir(), env: process.env, limit: 30_000, ...more,
});

const alive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

test("what it says and how it ended are the outcome, each line as it comes", async () => {
  const lines: string[] = [];
  const outcome = await runChild(node("console.log('one'); console.log('two'); console.error('bad'); process.exitCode = 3", { onLine: (line) => lines.push(line) }));
  expect(outcome).toMatchObject({ ending: "exited", code: 3, stdout: "one\ntwo\n", stderr: "bad\n" });
  expect(lines).toEqual(["one", "two"]);
});

test("a program that is not there is told as that", async () => {
  expect(await runChild(node("", { command: "/nope/python3" }))).toMatchObject({ ending: "not_started", error: "ENOENT" });
});

/** Starts a grandchild, says its number and stays. */
const FAMILY = "const c = require('child_process').spawn(process.execPath, ['-e', 'setInterval(() => 0, 1000)']); console.log(c.pid); setInterval(() => 0, 1000)";

test("cancelling ends the whole group", async () => {
  const cancelling = new AbortController();
  let grandchild = 0;
  const onLine = (line: string): void => {
    grandchild = Number(line);
    cancelling.abort();
  };
  const outcome = await runChild(node(FAMILY, { signal: cancelling.signal, onLine }));
  expect(outcome.ending).toBe("cancelled");
  expect(grandchild).toBeGreaterThan(0);
  await vi.waitFor(() => expect(alive(grandchild)).toBe(false), { timeout: 10_000 });
});

test("a limit ends one that does not leave when it is asked to", { timeout: 30_000 }, async () => {
  const outcome = await runChild(node("process.on('SIGTERM', () => 0); setInterval(() => 0, 1000)", { limit: 500 }));
  expect(outcome.ending).toBe("limit");
});

test("one that was cancelled before is not started", async () => {
  expect(await runChild(node("console.log(1)", { signal: AbortSignal.abort() }))).toMatchObject({ ending: "cancelled", stdout: "" });
});

test("a long talk is kept from its end", async () => {
  const { stdout } = await runChild(node("process.stdout.write('x'.repeat(300000) + 'end')"));
  expect(stdout.length).toBeLessThanOrEqual(64 * 1024);
  expect(stdout.endsWith("xend")).toBe(true);
});

test.runIf(process.platform === "linux")("a folder is in use while a process runs from it, and free afterwards", async () => {
  const folder = mkdtempSync(path.join(tmpdir(), "own-"));
  const program = path.join(folder, "engine.js");
  writeFileSync(program, "console.log('runs'); setInterval(() => 0, 1000)");
  const cancelling = new AbortController();
  let running: Promise<unknown> = Promise.resolve();
  await new Promise<void>((runs) => {
    running = runChild({ ...node(""), args: [program], signal: cancelling.signal, onLine: () => runs() });
  });
  expect(await inUse(folder, runChild, folder)).toBe(true);
  cancelling.abort();
  await running;
  expect(await inUse(folder, runChild, folder)).toBe(false);
  rmSync(folder, { recursive: true });
});
