import { ENDED, ENDINGS, POSSIBLE, type Ending, type EndingKind, type Verb } from "../contract/endings";

export type { Verb };

// What the server says of a run: its folded state and its facts, by the names of the protocol.
// Plain shapes for all views; nothing here knows the editor.

/** The line that the lens says of a run: a sign for its result (empty while it goes on), words, cost and time. */
export interface Said {
  sign: string;
  line: string;
  spent: string;
}

export interface PendingApproval {
  loopId?: string;
  iteration?: number;
  output?: string;
  place?: string;
  revise?: boolean;
}

export interface RunState {
  runId: string;
  said?: Said;
  origin?: string;
  path?: string;
  pendingApprovals?: PendingApproval[];
  format?: string;
  name?: string;
  uri?: string;
  target?: { kind: string; name?: string };
  status: string;
  reason?: string;
  /** How it ended, once it has. */
  ending?: Ending;
  label?: string;
  iteration?: number;
  maxIterations?: number;
  stage?: string;
  startedAt?: string;
  endedAt?: string;
  elapsedMs?: number;
  costUsd?: number;
  tokens?: unknown;
  pendingApproval?: PendingApproval | null;
  lastOutput?: string;
  lastSeq?: number;
  /** Its answers are made up: no model was asked. */
  mock?: boolean;
  /** It happened elsewhere. */
  imported?: boolean;
  source?: { kind?: string; runId?: string; iteration?: number };
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
