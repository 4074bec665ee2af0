// Which run a command means: the one that it was given (by a menu, a lens, a test), else the only one that
// fits, else the one that a person picks. Knows nothing of what is then done with it.
import * as vscode from "vscode";
import type { RunState } from "../runs/state";
import type { RunStore } from "../runs/store";
import { lineOfRun, nameOf, natureOf, since } from "../runs/words";
import { iconOf } from "./look";

/** What menus and other parts hand over: an object that names a run, or several that are selected. */
export type Given = { runId?: unknown } | undefined;

export interface Wanted {
  title: string;
  /** What to say where no run fits. */
  none: string;
  fits: (state: RunState) => boolean;
}

/** The ids that were handed over: all that are selected where the clicked one is among them. */
export function givenRuns(given: Given, selected: readonly Given[] = []): string[] {
  const clicked = idOf(given);
  const ids = selected.flatMap((one) => idOf(one) ?? []);
  if (clicked === undefined) return ids;
  return ids.includes(clicked) ? ids : [clicked];
}

const idOf = (given: Given): string | undefined => (typeof given?.runId === "string" ? given.runId : undefined);

/** One run, or undefined where the person gave up or was told that there is none. */
export async function chooseRun(runs: RunStore, given: Given, wanted: Wanted): Promise<string | undefined> {
  const clicked = idOf(given);
  if (clicked !== undefined) return clicked;
  const fitting = runs.all().filter(wanted.fits);
  const [only] = fitting;
  if (!only) {
    void vscode.window.showInformationMessage(wanted.none);
    return undefined;
  }
  if (fitting.length === 1) return only.runId;
  const picked = await vscode.window.showQuickPick(fitting.map(asItem), { title: wanted.title, matchOnDescription: true });
  return picked?.runId;
}

interface RunItem extends vscode.QuickPickItem {
  runId: string;
}

/** A run in a list to pick from: as the tree says it. */
export const asItem = (state: RunState): RunItem => ({
  runId: state.runId,
  label: nameOf(state),
  description: [lineOfRun(state), ...natureOf(state), since(state.endedAt ?? state.startedAt)].filter(Boolean).join(" · "),
  iconPath: iconOf(state),
});
