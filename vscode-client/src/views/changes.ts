// What a run changed in a Git worktree of its own: its diff, and what becomes of it. Nothing is done unasked.
import * as vscode from "vscode";
import type { Part, Server } from "../part";
import { hasEnded, type RunState } from "../runs/state";
import type { RunStore } from "../runs/store";
import { endingOf, nameOf } from "../runs/words";
import { chooseRun, type Given } from "./choosing";

const SCHEME = "loop-changes";
export const [APPLY, KEEP, DISCARD, SHOW] = ["Apply", "Keep Branch", "Discard", "Show Changes"] as const;
const DECISIONS = { [APPLY]: "apply", [KEEP]: "keep", [DISCARD]: "discard" } as const;
type Choice = keyof typeof DECISIONS;

export const changesPart: Part = ({ server, runs }) => [
  vscode.workspace.registerTextDocumentContentProvider(SCHEME, { provideTextDocumentContent: (uri) => diffOf(server, uri.query) }),
  vscode.commands.registerCommand("loopLs.client.changes", async (given?: Given) => {
    const runId = await chooseRun(runs, given, { title: "Show the changes of which run?", none: "No run has a worktree of its own.", fits: hasWorktree });
    if (runId !== undefined) await showChanges(server, runs, runId);
  }),
];

export const hasWorktree = (state: RunState): boolean => state.worktree !== undefined;

/** Whether its changes wait for a person. */
export function waitsForDecision(state: RunState): boolean {
  const made = state.worktree;
  return hasEnded(state) && (made?.changed ?? 0) > 0 && (made?.decision === undefined || made.decision === "restored");
}

/** `3 files changed on branch loop-ls/fixer-1`. */
export function changedLine(state: RunState): string {
  const changed = state.worktree?.changed ?? 0;
  return `${changed} ${changed === 1 ? "file" : "files"} changed on branch ${state.worktree?.branch ?? ""}`;
}

/** Tells how a run ended whose changes wait, and asks what becomes of them. */
export async function askForDecision(server: Server, runs: RunStore, state: RunState): Promise<void> {
  const choice = await vscode.window.showInformationMessage(`${endingOf(state)}. ${changedLine(state)}.`, APPLY, KEEP, DISCARD, SHOW);
  if (choice === SHOW) await showChanges(server, runs, state.runId);
  else if (choice) await decide(server, runs, state.runId, choice);
}

async function showChanges(server: Server, runs: RunStore, runId: string): Promise<void> {
  const state = runs.get(runId);
  const name = state ? nameOf(state).replaceAll("/", "_") : runId;
  const address = vscode.Uri.from({ scheme: SCHEME, path: `/${name} changes.diff`, query: runId });
  const document = await vscode.workspace.openTextDocument(address);
  await vscode.window.showTextDocument(document, { preview: true });
  if (!state || !waitsForDecision(state)) return;
  const choice = await vscode.window.showInformationMessage(`${nameOf(state)}: ${changedLine(state)}.`, APPLY, KEEP, DISCARD);
  if (choice) await decide(server, runs, runId, choice);
}

async function decide(server: Server, runs: RunStore, runId: string, choice: Choice): Promise<void> {
  const state = runs.get(runId);
  const called = state ? nameOf(state) : `run ${runId}`;
  if (choice === DISCARD) {
    const detail = "The branch and the worktree are deleted. This cannot be undone.";
    const sure = await vscode.window.showWarningMessage(`Discard the changes of ${called}?`, { modal: true, detail }, DISCARD);
    if (sure !== DISCARD) return;
  }
  const answer = await server.run("loopLs.decideChanges", { runId, decision: DECISIONS[choice] });
  if (!answer?.ok) return;
  const told = `The changes of ${called} are ${answer.decision}.`;
  void vscode.window.showInformationMessage(typeof answer.told === "string" ? `${told} ${answer.told}` : told);
}

async function diffOf(server: Server, runId: string): Promise<string> {
  const answer = await server.run("loopLs.changes", { runId });
  if (!answer?.ok) return "The changes of this run cannot be shown.";
  return String(answer.diff || "Nothing is changed.");
}
