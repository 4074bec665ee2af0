// Running the loop file that is looked at: the primary action, in the palette, in the editor's title and on a key.
// With a model, or with made-up answers for the first run of a newcomer: no key, no model, no cost.
import * as vscode from "vscode";
import { showStarted } from "../panel/started";
import type { Part } from "../part";
import { isLoopFile } from "../server/ours";

const SETTINGS = /(?:^|\/)\.loop-ls\.yaml$/;

/** Whether the file is one that a run can start with, as far as its name and first lines tell. */
export function canRun(document: vscode.TextDocument | undefined): boolean {
  return document !== undefined && isLoopFile(document) && !SETTINGS.test(document.uri.path);
}

export const runFilePart: Part = ({ server }) => {
  const run = async (more: { mock?: true }) => {
    const document = vscode.window.activeTextEditor?.document;
    if (!document) return vscode.window.showInformationMessage("First open the workflow or loop that you want to run.");
    await document.save();
    const answer = await server.run("loopLs.run", { uri: document.uri.toString(), ...more });
    showStarted(answer);
    return answer;
  };
  const look = (editor: vscode.TextEditor | undefined) =>
    vscode.commands.executeCommand("setContext", "loopLs.canRun", canRun(editor?.document));
  void look(vscode.window.activeTextEditor);
  return [
    vscode.commands.registerCommand("loopLs.client.run", () => run({})),
    vscode.commands.registerCommand("loopLs.client.tryRun", () => run({ mock: true })),
    vscode.window.onDidChangeActiveTextEditor(look),
    vscode.workspace.onDidSaveTextDocument(() => look(vscode.window.activeTextEditor)),
  ];
};
