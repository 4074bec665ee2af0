// What the server says of a run: its folded state and its facts, by the names of the protocol.
// Plain shapes for all views; nothing here knows the editor.

export interface RunState {
  runId: string;
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
  pendingApproval?: { loopId?: string; iteration?: number; output?: string } | null;
  lastOutput?: string;
  lastSeq?: number;
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

const LIMITS = new Set(["max_iterations", "time_limit", "max_rounds", "budget", "fixation", "unchanged"]);

/** Whether it ended at a limit, which is not a success and must not look like one. */
export const endedAtLimit = (state: RunState): boolean => state.status === "completed" && LIMITS.has(state.reason ?? "");
