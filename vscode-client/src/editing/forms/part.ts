// The commands of the forms, from the palette, a lens or a menu. Reads the forms themselves with the first of them.
import * as vscode from "vscode";
import type { Part } from "../../part";
import { isUri } from "../argument";
import type { InputForm } from "./inputForm";

interface Argument {
  uri?: string;
  name?: string;
}

export const formsPart: Part = ({ context, server }) => [
  vscode.commands.registerCommand("loopLs.client.assistantForm", async (argument?: Argument | vscode.Uri) => {
    const { openAssistant } = await import("./opening.js");
    return openAssistant(context.extensionUri, server, meant(argument), isUri(argument) ? undefined : argument?.name);
  }),
  vscode.commands.registerCommand("loopLs.client.enhanceForm", async (argument?: Argument | vscode.Uri) => {
    const { openEnhance } = await import("./opening.js");
    return openEnhance(context.extensionUri, server, meant(argument));
  }),
  // Not in the palette: a start that needs several texts asks with it.
  vscode.commands.registerCommand("loopLs.client.inputForm", async (asked: InputForm) => {
    const { askInForm } = await import("./opening.js");
    return askInForm(context.extensionUri, asked);
  }),
];

/** A lens says which file, a menu gives its address, the palette means the one that is looked at. */
function meant(argument: Argument | vscode.Uri | undefined): vscode.Uri | undefined {
  if (isUri(argument)) return argument;
  if (argument?.uri) return vscode.Uri.parse(argument.uri);
  return vscode.window.activeTextEditor?.document.uri;
}
