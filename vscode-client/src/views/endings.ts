// Tells a person how a run ended, where nothing in front of them says it already. A success whose file or
// panel is looked at is quiet; what failed or ran into a limit is told even then, unless the panel shows it.
import * as vscode from "vscode";
import type { Part, Server } from "../part";
import { waitsForDecision } from "../runs/changes";
import { endedAtLimit, hasEnded, type RunState } from "../runs/state";
import type { Change, RunStore } from "../runs/store";
import { endingOf, nameOf } from "../runs/words";
import { askForDecision } from "./changes";

const OPEN = "Open Run";
const OUTPUT = "Show Output";

export const endingsPart: Part = ({ server, runs }) => [runs.onDidChange((change) => void announce(server, runs, change))];

async function announce(server: Server, runs: RunStore, { state, before }: Change): Promise<void> {
  if (!before || hasEnded(before) || !hasEnded(state)) return;
  if (waitsForDecision(state) && concernsPerson(state)) return askForDecision(server, runs, state);
  if (!isNews(state)) return;
  const bad = state.status === "failed" || state.status === "blocked";
  const show = bad ? vscode.window.showErrorMessage : endedAtLimit(state) ? vscode.window.showWarningMessage : vscode.window.showInformationMessage;
  const choice = await show(endingOf(state), OPEN, OUTPUT);
  if (choice === OPEN) await vscode.commands.executeCommand("loopLs.client.openRun", { runId: state.runId });
  if (choice === OUTPUT) await vscode.commands.executeCommand("loopLs.client.showRuns");
}

/** Whether a person would want to hear of the end of a run that ended just now. */
export function isNews(state: RunState): boolean {
  if (!concernsPerson(state) || panelIsInFront(state)) return false;
  if (state.status === "cancelled") return state.reason !== "user"; // whoever stopped it knows
  const well = state.status === "completed" && !endedAtLimit(state);
  return !(well && fileIsInFront(state));
}

/** Started in an editor, or its file is open here: not what somebody runs in a terminal of their own. */
export function concernsPerson(state: RunState): boolean {
  if (state.origin === undefined || state.origin === "editor") return true;
  return vscode.workspace.textDocuments.some((document) => document.uri.toString() === uriOf(state));
}

const uriOf = (state: RunState): string | undefined => (state.uri ? vscode.Uri.parse(state.uri).toString() : undefined);

const fileIsInFront = (state: RunState): boolean =>
  vscode.window.state.focused && vscode.window.activeTextEditor?.document.uri.toString() === uriOf(state);

/** The panel's tab says the name of its run. */
function panelIsInFront(state: RunState): boolean {
  const tab = vscode.window.tabGroups.activeTabGroup?.activeTab;
  const input = tab?.input;
  if (!vscode.window.state.focused || !tab || !(input instanceof vscode.TabInputWebview)) return false;
  return input.viewType.includes("loopLs") && tab.label.includes(nameOf(state));
}
