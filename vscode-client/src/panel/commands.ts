// What the buttons of a run ask of whoever has it: the commands, and what of them begins another run. What needs an
// editor is not among them.
import type { Argument } from "../answers/settle";
import type { RunState } from "../runs/state";
import type { Act, Row } from "./shape";
import type { View } from "./view";

export interface Asked {
  command: string;
  argument: Argument;
  /** It begins a run, which is shown then. */
  begins?: boolean;
}

/** Nothing for what is no command. */
export function askedBy(wanted: Act, { runId, state, view }: { runId: string; state: RunState | undefined; view: View }): Asked | undefined {
  const uri = state?.uri;
  switch (wanted.verb) {
    case "pause":
    case "resume":
    case "stop":
      return { command: `loopLs.${wanted.verb}`, argument: { runId } };
    case "continue":
      return uri ? { command: "loopLs.enhance.continue", argument: { uri } } : undefined;
    case "skip":
      return uri ? { command: "loopLs.enhance.skipEdits", argument: { uri } } : undefined;
    case "giveUp":
      return { command: "loopLs.stop", argument: { runId } };
    case "approve": {
      const { loopId, approved, decision, feedback } = wanted;
      const more = { ...(decision ? { decision } : {}), ...(feedback ? { feedback } : {}) };
      return { command: "loopLs.approve", argument: { runId, loopId, approved, ...more } };
    }
    case "fork":
      return { command: "loopLs.fork", argument: forkOf(runId, view.rows.get(wanted.row)), begins: true };
    case "ask":
      return { command: "loopLs.fork", argument: { runId, at: wanted.at, prompt: wanted.prompt }, begins: true };
    case "replay":
      return { command: "loopLs.replay", argument: uri ? { runId, uri } : { runId }, begins: true };
    default:
      return undefined;
  }
}

export function forkOf(runId: string, row: Row | undefined): Argument {
  if (row?.kind !== "iteration") return { runId };
  return { runId, iteration: row.number, ...(row.parent ? { loop: row.name } : {}) };
}
