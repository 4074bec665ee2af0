// Shows a run that somebody starts in this window: its panel opens beside the file, and the keyboard stays where it is.
// Knows nothing of panels: it is part of the bundles that start runs.
import * as vscode from "vscode";
import type { Answer } from "../answers/settle";

/** `answer`: of the command that starts a run. */
export function showStarted(answer: Answer | undefined): void {
  if (!answer?.ok || typeof answer.runId !== "string") return;
  if (!vscode.workspace.getConfiguration("loopLs").get<boolean>("panel.openOnStart", true)) return;
  void vscode.commands.executeCommand("loopLs.client.openRun", { runId: answer.runId, started: true });
}
