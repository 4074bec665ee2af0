// The first run of a newcomer: the workflow that is looked at, with made-up answers. No key, no model, no cost.
import * as vscode from "vscode";
import type { Part } from "../part";

export const tryRunPart: Part = ({ server }) => [
  vscode.commands.registerCommand("loopLs.client.tryRun", async () => {
    const document = vscode.window.activeTextEditor?.document;
    if (!document) return vscode.window.showInformationMessage("Open the workflow that you want to try first.");
    await document.save();
    return server.run("loopLs.run", { uri: document.uri.toString(), mock: true });
  }),
];
