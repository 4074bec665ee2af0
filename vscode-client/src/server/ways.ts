// A trouble in front of people: its sentence with buttons, and what the buttons do. Waits for nobody.
import * as vscode from "vscode";
import { LABELS, type Told, type WayOut } from "./sentences";

const SETTINGS: Partial<Record<WayOut, string>> = {
  commandSetting: "loopLs.server.command",
  pythonSetting: "loopLs.server.python",
  proxySetting: "http.proxy",
};

export function showTold(told: Told, severity: "error" | "warning" = "error"): void {
  const show = severity === "error" ? vscode.window.showErrorMessage : vscode.window.showWarningMessage;
  const labels = told.ways.map((way) => LABELS[way]);
  void Promise.resolve(show(told.sentence, ...labels)).then((label) => {
    const way = told.ways.find((one) => LABELS[one] === label);
    if (way) void goOut(way);
  });
}

async function goOut(way: WayOut): Promise<unknown> {
  switch (way) {
    case "retry":
      return vscode.commands.executeCommand("loopLs.client.restart");
    case "log":
      return vscode.commands.executeCommand("loopLs.client.showLog");
    case "doctor":
      return vscode.commands.executeCommand("loopLs.client.doctor");
    case "ownServer":
      return emptyCommand();
    case "commandSetting":
    case "pythonSetting":
    case "proxySetting":
      return vscode.commands.executeCommand("workbench.action.openSettings", SETTINGS[way]);
  }
}

/** Takes the setting away from where it is written; the change itself restarts the server. */
async function emptyCommand(): Promise<void> {
  const settings = vscode.workspace.getConfiguration("loopLs");
  const written = settings.inspect<string[]>("server.command");
  if (written?.workspaceFolderValue) await settings.update("server.command", undefined, vscode.ConfigurationTarget.WorkspaceFolder);
  if (written?.workspaceValue) await settings.update("server.command", undefined, vscode.ConfigurationTarget.Workspace);
  if (written?.globalValue) await settings.update("server.command", undefined, vscode.ConfigurationTarget.Global);
}
