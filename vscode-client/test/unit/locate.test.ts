import { expect, test } from "vitest";
import { locateServer } from "../../src/server/locate";

const around = { configured: [], folders: ["/w"], searchPath: "/usr/bin:/opt/bin", windows: false };
const only = (...files: string[]) => async (file: string) => files.includes(file);

test("the setting wins over everything else", async () => {
  const program = await locateServer({ ...around, configured: ["/x/loop-ls", "serve"] }, only("/w/.venv/bin/loop-ls"));
  expect(program).toEqual({ command: "/x/loop-ls", args: ["serve"], origin: "setting" });
});

test("the workspace's own environment wins over the path", async () => {
  const program = await locateServer(around, only("/w/.venv/bin/loop-ls", "/usr/bin/loop-ls"));
  expect(program).toEqual({ command: "/w/.venv/bin/loop-ls", args: ["serve"], origin: "workspace" });
});

test("the path is searched in order", async () => {
  const program = await locateServer(around, only("/opt/bin/loop-ls"));
  expect(program?.command).toBe("/opt/bin/loop-ls");
});

test("an untrusted workspace offers no folders, so nothing of it is started", async () => {
  expect(await locateServer({ ...around, folders: [] }, only("/w/.venv/bin/loop-ls"))).toBeUndefined();
});

test("Windows keeps its programs elsewhere", async () => {
  const program = await locateServer({ ...around, windows: true }, only("/w/.venv/Scripts/loop-ls.exe"));
  expect(program?.command).toBe("/w/.venv/Scripts/loop-ls.exe");
});
