// What a run changed in a Git worktree of its own, as far as its state tells.
import { hasEnded, type RunState } from "./state";

/** What may become of the changes. */
export type Decision = "apply" | "keep" | "discard";

/** Whether its branch can still be decided on: kept and discarded ones, and those that were applied, are gone. */
export function isUndecided(state: RunState): boolean {
  const made = state.worktree;
  return hasEnded(state) && made !== undefined && (made.decision === undefined || made.decision === "restored");
}

/** Whether its changes wait for a person. */
export const waitsForDecision = (state: RunState): boolean => isUndecided(state) && (state.worktree?.changed ?? 0) > 0;

/** `3 files changed on branch loop-ls/fixer-1`. */
export function changedLine(state: RunState): string {
  const changed = state.worktree?.changed ?? 0;
  return `${changed} ${changed === 1 ? "file" : "files"} changed on branch ${state.worktree?.branch ?? ""}`;
}
