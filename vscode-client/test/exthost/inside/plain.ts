// In a folder without loop files: the extension is not activated by texts, and does nothing but look for a JSON
// or YAML file; a command of a person still finds it.
import * as assert from "node:assert/strict";
import * as vscode from "vscode";
import type { Door } from "../../../src/extension";
import { runAll, type Test, until } from "./runner";

const file = (name: string): vscode.Uri => {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri ?? assert.fail("no folder is open");
  return vscode.Uri.joinPath(folder, name);
};
const extension = (): vscode.Extension<Door> =>
  vscode.extensions.getExtension<Door>("loop-ls.loop-ls") ?? assert.fail("the extension is not there");

async function shown(name: string): Promise<vscode.TextDocument> {
  const document = await vscode.workspace.openTextDocument(file(name));
  await vscode.window.showTextDocument(document);
  return document;
}

const TESTS: Test[] = [
  [
    "a text activates nothing",
    async () => {
      await shown("notes.md");
      assert.equal(extension().isActive, false);
    },
  ],
  [
    "files of others activate the door, and it stays closed",
    async () => {
      for (const name of ["package.json", "compose.yaml"]) await shown(name);
      const door = await until("activation", () => extension().isActive && extension().exports);
      // what it looks for was looked for: the editor has answered the same question since
      await assert.rejects(Promise.resolve(vscode.workspace.fs.stat(file(".loop-ls.yaml"))));
      assert.equal(door.awake, false);
      assert.ok(!(await vscode.commands.getCommands(true)).includes("loopLs.run"), "the server was started");
    },
  ],
  [
    "a command opens it",
    async () => {
      const report = await vscode.commands.executeCommand<string>("loopLs.client.doctor");
      assert.match(report, /^# Loop: Doctor/);
      assert.equal(extension().exports.awake, true);
    },
  ],
];

export const run = (): Promise<void> => runAll(TESTS);
