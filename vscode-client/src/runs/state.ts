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

const ENDED = new Set(["completed", "failed", "cancelled", "blocked"]);

/** Whether nothing more will happen to it by itself. */
export const hasEnded = (state: RunState): boolean => ENDED.has(state.status);

/** Reasons that are no success: the second row of `completed`. */
const LIMITS = new Set([
  ...["max_iterations", "time_limit", "max_rounds", "budget", "fixation", "unchanged"],
  ...["no_ops", "unfixable", "planner_error", "apply_rejected", "no_items"],
]);

/** Whether it ended at a limit, which is not a success and must not look like one. */
export const endedAtLimit = (state: RunState): boolean => state.status === "completed" && LIMITS.has(state.reason ?? "");

/** What a person is asked by a run, in the order of asking. */
export const questionsOf = (state: RunState): PendingApproval[] =>
  state.pendingApprovals ?? (state.pendingApproval ? [state.pendingApproval] : []);

export type Verb = "pause" | "resume" | "stop";

const POSSIBLE: Record<Verb, ReadonlySet<string>> = {
  pause: new Set(["queued", "running", "waiting_approval"]),
  resume: new Set(["paused", "interrupted"]),
  stop: new Set(["queued", "running", "paused", "waiting_approval", "interrupted"]),
};

/** Whether a verb means something for a run as it is now. */
export const isPossible = (verb: Verb, state: RunState): boolean => POSSIBLE[verb].has(state.status);
