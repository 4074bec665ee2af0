// Enhance loops from the command palette: the server's own commands, for the file that is looked at.
import * as vscode from "vscode";
import type { Part } from "../part";

export const ENHANCING: Record<string, { command: string; more: Record<string, unknown> }> = {
  "loopLs.client.enhance": { command: "loopLs.enhance.start", more: {} },
  "loopLs.client.showTimeline": { command: "loopLs.enhance.timeline", more: { show: true } },
};

export const enhancingPart: Part = () =>
  Object.entries(ENHANCING).map(([name, { command, more }]) =>
    vscode.commands.registerCommand(name, () => onActiveFile(command, more)),
  );

async function onActiveFile(command: string, more: Record<string, unknown>): Promise<unknown> {
  const uri = vscode.window.activeTextEditor?.document.uri;
  if (!uri) return vscode.window.showInformationMessage("First open the workflow.");
  return vscode.commands.executeCommand(command, { uri: uri.toString(), ...more });
}
