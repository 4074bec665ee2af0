// The state of a run as the head of its panel: what it is, how it stands, what it has spent, what it asks.
import { endingKind, endingLine, hasEnded, type RunState } from "../runs/state";
import type { Estimate } from "./estimate";
import type { Approval, Head } from "./shape";
import type { PendingApproval } from "../contract/runState";
import { waitingUntil } from "../runs/amounts";
import { changedLine, isUndecided, waitsForDecision } from "../runs/changes";
import { nameOf, natureOf } from "../runs/words";

interface Loose {
  caps?: { budgetUsd?: number; maxTokens?: number; wallClock?: number };
  question?: { kind?: string; reason?: string; round?: number; conflict?: string; failureReason?: string; rejected?: boolean };
  pendingApprovals?: PendingApproval[];
  error?: { message?: string; hint?: string };
  path?: string;
  because?: string;
  unpriced?: boolean;
  calls?: number;
  mayHavePaidTwice?: boolean;
}

/** Criteria of assistants after which nobody is asked a question and nothing is looked for. */
const UNJUDGED = new Set(["manual", "max_iterations"]);

export function headOf(state: RunState, estimate?: Estimate): Head {
  const more = state as RunState & Loose;
  const enhance = state.format === "enhance";
  const caps = more.caps ?? {};
  const error = more.error;
  return {
    runId: state.runId,
    name: nameOf(state),
    file: (more.path ?? state.uri ?? "").split("/").at(-1) ?? "",
    format: state.format ?? "",
    unit: enhance ? "round" : "iteration",
    status: state.status,
    reason: state.reason,
    sentence: sentenceOf(state),
    tone: toneOf(state),
    because: more.because,
    error: error?.message ? { message: error.message, hint: error.hint ?? "" } : undefined,
    label: state.label ?? undefined,
    iteration: state.iteration ?? 0,
    max: state.maxIterations,
    costUsd: state.costUsd,
    judged: !UNJUDGED.has(String(more.criterion?.type)),
    simulated: state.simulated === true,
    unpriced: more.unpriced === true,
    caps: { usd: caps.budgetUsd, tokens: caps.maxTokens, seconds: caps.wallClock },
    tokens: Object.values((state.tokens ?? {}) as Record<string, number>).reduce((sum, each) => sum + each, 0),
    calls: more.calls ?? 0,
    estimate,
    elapsedMs: state.elapsedMs ?? 0,
    deadline: state.deadline,
    ended: hasEnded(state),
    working: state.status === "running" || state.status === "stopping",
    recovered: more.mayHavePaidTwice ? "Recovered after a restart; one call may have been billed twice." : undefined,
    source: sourceOf(state),
    approvals: hasEnded(state) ? [] : approvalsOf(more),
    choice: choiceOf(more),
    changes: waitsForDecision(state) ? changedLine(state) : undefined,
    restorable: isUndecided(state) || undefined,
  };
}

/** How it stands, in words: a limit never reads like a success. */
export function sentenceOf(state: RunState): string {
  if (hasEnded(state)) return endingLine(state);
  switch (state.status) {
    case "paused":
      if (state.resumesAt) return waitingUntil(state.resumesAt);
      return state.reason === "between_rounds" ? "paused between rounds" : "paused";
    case "waiting_approval":
      return "waiting for your approval";
    case "interrupted":
      return "interrupted: lost the connection to the engine";
    case "stopping":
      return "stopping…";
    default:
      return state.status;
  }
}

export function toneOf(state: RunState): Head["tone"] {
  switch (endingKind(state)) {
    case "success":
      return "good";
    case "limit":
      return "limit";
    case "failure":
    case "blocked":
      return "bad";
    case "stopped":
      return "still";
    default:
      return state.status === "interrupted" ? "still" : "going";
  }
}

function approvalsOf(state: RunState & Loose): Approval[] {
  const asked = state.pendingApprovals ?? (state.pendingApproval ? [state.pendingApproval] : []);
  return asked.map((one) => ({
    loopId: one.loopId ?? "",
    iteration: one.iteration,
    place: one.place ?? "",
    output: (one.output ?? "").slice(0, 2000),
    revise: one.revise === true,
    touched: (one.protected ?? []).length > 0,
    blocked: one.blocked === true,
  }));
}

function choiceOf(state: RunState & Loose): Head["choice"] {
  const asked = state.question;
  if (asked?.kind !== "loop_paused" || hasEnded(state)) return undefined;
  const round = asked.round ?? state.iteration ?? 0;
  if (asked.rejected) return { kind: "rejected", round, why: `The change of round ${round} was rejected and is not applied.` };
  if (asked.reason !== "conflict") return { kind: "between_rounds", round, why: "" };
  const why = (asked.failureReason || (asked.conflict ?? "").replaceAll("_", " ")).replace(/\.$/, "");
  const told = asked.conflict === "document_invalid" ? `${why}.` : `The change of round ${round} is not in the file: ${why}.`;
  return { kind: "conflict", round, why: told };
}

/** Whose answers it took, and that no model was asked here. */
function sourceOf(state: RunState): string | undefined {
  const words = natureOf(state).filter((word) => word !== "replay").map((word) => (word === "mock" ? "mock run" : word));
  return [takenFrom(state.source), ...words].filter(Boolean).join(" · ") || undefined;
}

function takenFrom(source: RunState["source"]): string | undefined {
  if (!source?.runId) return undefined;
  const id = source.runId.slice(0, 8);
  if (source.kind === "replay") return `replay of ${id}`;
  if (source.at) return `fork of ${id} from ${source.at}${source.changed ? ", with another prompt" : ""}`;
  return source.iteration ? `fork of ${id} from ${source.iteration}` : `fork of ${id}`;
}
