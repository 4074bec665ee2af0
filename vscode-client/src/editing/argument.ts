// What a command is called with: a lens gives an object of ours, a menu the address of what was clicked.
import type * as vscode from "vscode";

export const isUri = (argument: object | undefined): argument is vscode.Uri =>
  argument !== undefined && "scheme" in argument && "path" in argument;
