// Pause, resume, stop, note: one service behind every button of this side. Lens, palette, tree, progress and
// Testing view all end at the server's command of that name, and so at the engine, which alone decides.
import * as vscode from "vscode";
import type { Part, Server } from "../part";
import { hasEnded, isPossible, type RunState, type Verb } from "../runs/state";
import type { RunStore } from "../runs/store";
import { nameOf } from "../runs/words";
import { chooseRun, type Given, givenRuns } from "./choosing";

const SENTENCES: Record<Verb, { title: string; none: string }> = {
  pause: { title: "Pause which loop?", none: "No loop is running." },
  resume: { title: "Resume which loop?", none: "No loop is paused." },
  stop: { title: "Stop which loop?", none: "No loop is running." },
};

/** Says a verb to runs; the answers hold the states that were reached. Never throws. */
export async function say(server: Server, verb: Verb, runIds: readonly string[]): Promise<void> {
  await Promise.all(runIds.map((runId) => server.run(`loopLs.${verb}`, { runId })));
}

export const controlPart: Part = ({ server, runs }) => [
  ...(["pause", "resume", "stop"] as const).map((verb) =>
    vscode.commands.registerCommand(`loopLs.client.${verb}`, (given?: Given, selected?: Given[]) =>
      control(server, runs, verb, given, selected),
    ),
  ),
  vscode.commands.registerCommand("loopLs.client.stopAll", () => stopAll(server, runs)),
  vscode.commands.registerCommand("loopLs.client.note", (given?: Given) => note(server, runs, given)),
];

async function control(server: Server, runs: RunStore, verb: Verb, given: Given, selected?: Given[]): Promise<void> {
  const fits = (state: RunState) => isPossible(verb, state);
  const several = givenRuns(given, selected);
  if (several.length > 1) {
    const meant = several.filter((runId) => fits(runs.get(runId) ?? { runId, status: "running" }));
    return say(server, verb, meant);
  }
  const runId = await chooseRun(runs, given, { ...SENTENCES[verb], fits });
  if (runId !== undefined) await say(server, verb, [runId]);
}

/** Says something to a run that goes on: whoever works next reads it with the prompt. */
async function note(server: Server, runs: RunStore, given: Given): Promise<void> {
  const runId = await chooseRun(runs, given, { title: "Send a note to which loop?", none: "No loop is running.", fits: (state) => !hasEnded(state) });
  if (runId === undefined) return;
  const state = runs.get(runId);
  const called = state ? nameOf(state) : `run ${runId}`;
  const text = (await vscode.window.showInputBox({ title: `Note for ${called}`, prompt: "It is added to the next prompt of this run, once." }))?.trim();
  if (!text) return;
  const answer = await server.run("loopLs.note", { runId, text });
  if (answer?.ok) vscode.window.setStatusBarMessage(`${called} gets the note with its next prompt`, 5000);
}

async function stopAll(server: Server, runs: RunStore): Promise<void> {
  const going = runs.all().filter((state) => isPossible("stop", state));
  if (going.length === 0) return void vscode.window.showInformationMessage(SENTENCES.stop.none);
  await say(server, "stop", going.map((state) => state.runId));
}
