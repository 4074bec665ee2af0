// What a run changed in a Git worktree of its own: its diff, and what becomes of it. Nothing is done unasked.
import * as vscode from "vscode";
import type { Part, Server } from "../part";
import { changedLine, type Decision, isUndecided, waitsForDecision } from "../runs/changes";
import type { RunState } from "../runs/state";
import type { RunStore } from "../runs/store";
import { endingOf, nameOf } from "../runs/words";
import { chooseRun, type Given } from "./choosing";

const SCHEME = "loop-changes";
export const [APPLY, KEEP, DISCARD, SHOW] = ["Apply", "Keep Branch", "Discard", "Show Changes"] as const;
const DECISIONS: Record<string, Decision> = { [APPLY]: "apply", [KEEP]: "keep", [DISCARD]: "discard" };

export const changesPart: Part = ({ server, runs }) => [
  vscode.workspace.registerTextDocumentContentProvider(SCHEME, { provideTextDocumentContent: (uri) => diffOf(server, uri.query) }),
  vscode.commands.registerCommand("loopLs.client.changes", async (given?: Given) => {
    const runId = await chooseRun(runs, given, { title: "Show the changes of which run?", none: "No run has a worktree of its own.", fits: hasWorktree });
    if (runId !== undefined) await showChanges(server, runs, runId);
  }),
  vscode.commands.registerCommand("loopLs.client.decideChanges", (given: { runId: string; decision: Decision }) =>
    decide(server, runs, given.runId, given.decision),
  ),
  vscode.commands.registerCommand("loopLs.client.restore", async (given?: Given & { iteration?: number; loop?: string }) => {
    const runId = await chooseRun(runs, given, { title: "Restore an iteration of which run?", none: "No run has changes to decide on.", fits: isUndecided });
    if (runId !== undefined) await restore(server, runId, given?.iteration ?? (await askForIteration(runs.get(runId))), given?.loop);
  }),
];

export const hasWorktree = (state: RunState): boolean => state.worktree !== undefined;

/** Tells how a run ended whose changes wait, and asks what becomes of them. */
export async function askForDecision(server: Server, runs: RunStore, state: RunState): Promise<void> {
  const choice = await vscode.window.showInformationMessage(`${endingOf(state)}. ${changedLine(state)}.`, APPLY, KEEP, DISCARD, SHOW);
  if (choice === SHOW) await showChanges(server, runs, state.runId);
  else if (choice) await decide(server, runs, state.runId, DECISIONS[choice]);
}

async function showChanges(server: Server, runs: RunStore, runId: string): Promise<void> {
  const state = runs.get(runId);
  const name = state ? nameOf(state).replaceAll("/", "_") : runId;
  const address = vscode.Uri.from({ scheme: SCHEME, path: `/${name} changes.diff`, query: runId });
  const document = await vscode.workspace.openTextDocument(address);
  await vscode.window.showTextDocument(document, { preview: true });
  if (!state || !waitsForDecision(state)) return;
  const choice = await vscode.window.showInformationMessage(`${nameOf(state)}: ${changedLine(state)}.`, APPLY, KEEP, DISCARD);
  if (choice) await decide(server, runs, runId, DECISIONS[choice]);
}

async function decide(server: Server, runs: RunStore, runId: string, decision: Decision | undefined): Promise<void> {
  if (decision === undefined) return;
  const state = runs.get(runId);
  const called = state ? nameOf(state) : `run ${runId}`;
  if (decision === "discard") {
    const detail = "The branch and the worktree are deleted. This cannot be undone.";
    const sure = await vscode.window.showWarningMessage(`Discard the changes of ${called}?`, { modal: true, detail }, DISCARD);
    if (sure !== DISCARD) return;
  }
  const answer = await server.run("loopLs.decideChanges", { runId, decision });
  if (!answer?.ok) return;
  const told = `The changes of ${called} are ${answer.decision}.`;
  void vscode.window.showInformationMessage(typeof answer.told === "string" ? `${told} ${answer.told}` : told);
}

async function askForIteration(state: RunState | undefined): Promise<number | undefined> {
  const most = state?.iteration ?? 1;
  const typed = await vscode.window.showInputBox({
    title: "Restore the state after which iteration?",
    prompt: `A number from 1 to ${most}. The branch of the run gets a new commit; your files stay as they are.`,
    validateInput: (text) => (/^\d+$/.test(text) && Number(text) >= 1 && Number(text) <= most ? undefined : `A number from 1 to ${most}`),
  });
  return typed ? Number(typed) : undefined;
}

async function restore(server: Server, runId: string, iteration: number | undefined, loop: string | undefined): Promise<void> {
  if (iteration === undefined) return;
  const answer = await server.run("loopLs.restore", { runId, iteration, ...(loop ? { loop } : {}) });
  if (answer?.ok) void vscode.window.showInformationMessage(`The branch of the run is as it was after iteration ${iteration}.`);
}

async function diffOf(server: Server, runId: string): Promise<string> {
  const answer = await server.run("loopLs.changes", { runId });
  if (!answer?.ok) return "The changes of this run cannot be shown.";
  return String(answer.diff || "Nothing is changed.");
}
