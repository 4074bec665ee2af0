import { ENDED, ENDINGS, POSSIBLE, type EndingKind, type Verb } from "../contract/endings";
import type { ViewNotice } from "../contract/answers";
import type { PendingApproval, RunStateView } from "../contract/runState";

export type { PendingApproval, Verb, ViewNotice };

/** What is new in the view of a run. */
export type ViewPatch = Omit<ViewNotice, "runId" | "after">;

// What the server says of a run: its folded state and its facts, by the names of the protocol.
// Plain shapes for all views; nothing here knows the editor.

/** The line that the lens says of a run: a sign for its result (empty while it goes on), words, cost and time. */
export interface Said {
  sign: string;
  line: string;
  spent: string;
}

/** A run's state as the server sends it; of an older engine some fields may be missing. */
export interface RunState extends Partial<Omit<RunStateView, "status">> {
  runId: string;
  status: string;
  said?: Said;
  [key: string]: unknown;
}

export interface RunEvent {
  runId: string;
  seq?: number;
  at?: string;
  kind: string;
  iteration?: number;
  maxIterations?: number;
  output?: string;
  verdict?: string;
  answer?: string;
  reason?: string;
  error?: string;
  totalIterations?: number;
  [key: string]: unknown;
}

/** Whether nothing more will happen to it by itself. */
export const hasEnded = (state: RunState): boolean => ENDED.has(state.status);

export const isRoleLoop = (state: RunState): boolean => state.format === "role_loop";

/** What kind of end it had; undefined while it goes on. */
export function endingKind(state: RunState): EndingKind | undefined {
  if (!hasEnded(state)) return undefined;
  if (state.ending) return state.ending.kind;
  if (state.status === "completed") return (ENDINGS[state.reason ?? "completed"]?.kind ?? "limit");
  return state.status === "cancelled" ? "stopped" : state.status === "blocked" ? "blocked" : "failure";
}

/** How it ended, as a sentence without the run's name. */
export const endingLine = (state: RunState): string =>
  state.ending?.line ?? ENDINGS[state.reason ?? state.status]?.short ?? (state.reason ?? state.status).replaceAll("_", " ");

/** Whether it ended at a limit, which is not a success and must not look like one. */
export const endedAtLimit = (state: RunState): boolean => endingKind(state) === "limit";

/** What a person is asked by a run, in the order of asking. */
export const questionsOf = (state: RunState): PendingApproval[] =>
  state.pendingApprovals ?? (state.pendingApproval ? [state.pendingApproval] : []);

/** Whether a verb means something for a run as it is now. */
export const isPossible = (verb: Verb, state: RunState): boolean => POSSIBLE[verb].has(state.status);
