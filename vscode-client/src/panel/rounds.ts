// The rounds of an enhance loop, folded from facts one by one: what failed, was proposed, applied, refused, and why.
// The engine's timeline says the same; here it grows with the run, so nothing has to be asked again.
import type { RunEvent } from "../runs/state";
import type { Change, Failure, Round } from "./shape";

const DOING: Record<string, string> = {
  round_started: "running the workflow",
  report_ready: "looking at what failed",
  planner_started: "planning changes",
  loop_paused: "waiting for you",
  edit_sent: "changing the file",
  backing_off: "waiting before the next round",
};

export class Rounds {
  private readonly known = new Map<number, Round>();
  private sent: Change[] = [];

  all(): Round[] {
    return [...this.known.values()].sort((left, right) => left.number - right.number);
  }

  /** Whether it said anything about a round. */
  take(fact: RunEvent): boolean {
    const number = fact.round;
    if (typeof number !== "number") return this.end(fact);
    const round = this.known.get(number) ?? empty(number, String(fact.place ?? "").split(":")[0] ?? "");
    this.known.set(number, round);
    round.doing = DOING[fact.kind] ?? round.doing;
    switch (fact.kind) {
      case "report_ready":
        this.report(round, fact);
        break;
      case "loop_fixation_warning":
        round.fixation = true;
        break;
      case "planner_started":
        round.planned = true;
        break;
      case "planner_failed":
        round.planProblem = text(fact.message);
        break;
      case "op_rejected":
        this.reject(round, fact);
        break;
      case "ops_proposed":
        round.proposed = changes(fact.ops);
        round.rationale = text(fact.rationale);
        round.diff = text(fact.diff);
        break;
      case "edit_sent":
        this.sent = changes(fact.changes);
        round.diff = text(fact.diff) || round.diff;
        break;
      case "edit_acknowledged":
        round.applied = this.sent;
        round.refused = undefined;
        round.doing = undefined;
        break;
      case "edit_refused":
        round.refused = text(fact.failureReason) || "the editor refused the edit";
        break;
      case "loop_continued":
        round.doing = undefined;
        break;
    }
    return true;
  }

  private end(fact: RunEvent): boolean {
    if (!["completed", "failed", "cancelled"].includes(fact.kind)) return false;
    for (const round of this.known.values()) round.doing = undefined;
    return this.known.size > 0;
  }

  private report(round: Round, fact: RunEvent): void {
    const cost = ((fact.report as { cost?: Record<string, unknown> } | undefined)?.cost ?? {}) as Record<string, unknown>;
    round.reported = true;
    round.status = fact.converged === true ? "converged" : "failed";
    round.doing = round.status === "converged" ? undefined : round.doing;
    round.failed = list(fact.failures).map(
      (one): Failure => ({ step: text(one.step), kind: text(one.kind), message: text(one.message) }),
    );
    round.usd = amount(cost.round_usd);
    round.cumulativeUsd = amount(cost.cumulative_usd);
  }

  private reject(round: Round, fact: RunEvent): void {
    const refused = { op: text(fact.op), target: text(fact.target), reason: text(fact.message), code: text(fact.reasonCode) };
    const again = round.rejected.some((one) => one.op === refused.op && one.target === refused.target && one.code === refused.code);
    if (!again) round.rejected.push(refused); // a planner that was asked again proposed it again
  }
}

function empty(number: number, row: string): Round {
  return {
    number,
    row,
    status: "running",
    failed: [],
    proposed: [],
    rejected: [],
    applied: [],
    rationale: "",
    diff: "",
    fixation: false,
    reported: false,
    planned: false,
  };
}

const text = (value: unknown): string => (typeof value === "string" ? value : "");
const amount = (value: unknown): number | undefined => (typeof value === "number" ? value : undefined);
const list = (value: unknown): Record<string, unknown>[] =>
  Array.isArray(value) ? value.filter((one): one is Record<string, unknown> => typeof one === "object" && one !== null) : [];

function changes(value: unknown): Change[] {
  return list(value).map((one) => ({ op: text(one.op), target: text(one.target) || text(one.name), reason: text(one.reason) }));
}
