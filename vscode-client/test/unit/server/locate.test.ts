import { expect, test } from "vitest";
import { locateServer, type Look } from "../../../src/server/locate";

const around = { configured: [], folders: ["/w"], searchPath: "/usr/bin:/opt/bin", home: "/home/me", windows: false };
const only = (...files: string[]): Look => async (file) => (files.includes(file) ? "program" : "missing");

test("the setting wins over everything else", async () => {
  const configured = ["/x/loop-ls", "serve"];
  const program = await locateServer({ ...around, configured }, only("/x/loop-ls", "/w/.venv/bin/loop-ls"));
  expect(program).toEqual({ command: "/x/loop-ls", args: ["serve"], origin: "setting" });
});

test.each([
  ["loop-ls", "/opt/bin/loop-ls"],
  ["~/venv/bin/loop-ls", "/home/me/venv/bin/loop-ls"],
  ["${workspaceFolder}/tools/loop-ls", "/w/tools/loop-ls"],
  ["tools/loop-ls", "/w/tools/loop-ls"],
])("the setting %s means %s", async (command, file) => {
  expect(await locateServer({ ...around, configured: [command] }, only(file))).toMatchObject({ command: file, origin: "setting" });
});

test("a setting that names nothing is told, not passed over", async () => {
  const wrong = await locateServer({ ...around, configured: ["/nope", "serve"] }, only("/w/.venv/bin/loop-ls"));
  expect(wrong).toEqual({ wrong: "/nope", because: "missing" });
});

test("a setting that names a folder is told as what it is", async () => {
  const wrong = await locateServer({ ...around, configured: ["/etc"] }, async () => "other");
  expect(wrong).toEqual({ wrong: "/etc", because: "not_a_program" });
});

test("the workspace's own environment wins over the path", async () => {
  const program = await locateServer(around, only("/w/.venv/bin/loop-ls", "/usr/bin/loop-ls"));
  expect(program).toEqual({ command: "/w/.venv/bin/loop-ls", args: ["serve"], origin: "workspace" });
});

test("the path is searched in order", async () => {
  expect(await locateServer(around, only("/opt/bin/loop-ls"))).toMatchObject({ command: "/opt/bin/loop-ls", origin: "path" });
});

test("an untrusted workspace offers no folders, so nothing of it is started", async () => {
  expect(await locateServer({ ...around, folders: [] }, only("/w/.venv/bin/loop-ls"))).toBeUndefined();
});

test("a relative folder on the path is not searched: it would be the folder that is open", async () => {
  expect(await locateServer({ ...around, searchPath: ".:bin:", folders: [] }, async () => "program")).toBeUndefined();
});

test("Windows keeps its programs elsewhere", async () => {
  const program = await locateServer({ ...around, windows: true }, only("/w/.venv/Scripts/loop-ls.exe"));
  expect(program).toMatchObject({ command: "/w/.venv/Scripts/loop-ls.exe" });
});
