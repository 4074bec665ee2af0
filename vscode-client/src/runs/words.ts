// Facts and endings as the sentences that people read. One wording for output, messages and views.
import { ENDINGS, VERDICTS } from "../contract/endings";
import { ago } from "./amounts";
import { endingLine, type RunEvent, type RunState } from "./state";

/** The beginning of a text on one line. */
export const excerpt = (text: string | undefined, length = 120): string => {
  const line = (text ?? "").replace(/\s+/g, " ").trim();
  return line.length > length ? `${line.slice(0, length - 1)}…` : line;
};

/** A fact as one line of the output channel; undefined for facts that say nothing to a person. */
export function lineOf(event: RunEvent): string | undefined {
  switch (event.kind) {
    case "run_started":
      return "started";
    case "iteration":
      return `iteration ${event.iteration}${event.maxIterations ? `/${event.maxIterations}` : ""}: ${excerpt(event.output)}`;
    case "judged":
      return `iteration ${event.iteration}: ${VERDICTS[event.verdict ?? "unclear"] ?? event.verdict}`;
    case "round_started":
      return `round ${event.round} of ${event.maxRounds}`;
    case "ops_proposed":
      return `proposed: ${excerpt(String(event.rationale ?? ""))}`;
    case "edit_acknowledged":
      return "the change is in the file";
    case "edit_refused":
      return `the change was not applied: ${excerpt(String(event.failureReason ?? ""))}`;
    case "retrying":
      return `trying again: ${excerpt(String(event.because ?? ""))}`;
    case "paused":
    case "resumed":
    case "interrupted":
      return event.kind;
    case "recovered":
      return "recovered after a restart; one call may have been billed twice";
    case "completed":
      return `completed: ${ENDINGS[event.reason ?? ""]?.short ?? (event.reason ?? "").replaceAll("_", " ")}`;
    case "failed":
      return `failed: ${excerpt(event.error)}`;
    case "cancelled":
      return "stopped";
    default:
      return undefined;
  }
}

/** The sentence that tells a person how a run ended. */
export function endingOf(state: RunState): string {
  return `${state.name ?? state.runId}: ${endingLine(state)}.`;
}

/** What people call a run: the loop or step that was started, else the name of the whole. */
export function nameOf(state: RunState): string {
  const part = state.target?.kind === "loop" || state.target?.kind === "step" ? state.target.name : undefined;
  return part ?? state.name ?? state.target?.name ?? state.runId;
}

/** What a person must know of a run that is not what it looks like: that no model was asked, or not here and now. */
export function natureOf(state: RunState): string[] {
  const words = { mock: state.mock === true, replay: state.source?.kind === "replay", imported: state.imported === true };
  return Object.entries(words).flatMap(([word, holds]) => (holds ? [word] : []));
}

/** `3/5`; nothing before the first iteration. */
export function progressOf(state: RunState): string {
  if (!state.iteration) return "";
  return state.maxIterations ? `${state.iteration}/${state.maxIterations}` : String(state.iteration);
}

/** The line of the lens; of a server that sends none, what the state says by itself. */
export function lineOfRun(state: RunState): string {
  if (state.said) return [state.said.sign, state.said.line].filter(Boolean).join(" ");
  return (state.reason ?? state.status).replaceAll("_", " ");
}

/** How long ago a moment was; nothing where it is none. */
export function since(moment: string | undefined, now = Date.now(), full = true): string {
  const passed = now - Date.parse(moment ?? "");
  return Number.isNaN(passed) ? "" : ago(passed / 1000, full);
}
