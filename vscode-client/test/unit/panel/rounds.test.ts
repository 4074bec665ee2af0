// Rounds of an enhance loop, folded from their facts.
import { expect, test } from "vitest";
import { bookOf } from "./facts";

const common = (round: number) => ({ place: `report/${round}`, round, maxRounds: 3, spentUsd: 0.2, capUsd: 5 });
const FAILED = [
  { kind: "run_started", format: "enhance" },
  { kind: "iteration_started", place: "report/1", loop: "report", iteration: 1, maxIterations: 3 },
  { kind: "round_started", ...common(1) },
  { kind: "step_started", place: "report/1/draft", step: "draft", mode: "run", depth: 1 },
  { kind: "step_completed", place: "report/1/draft", step: "draft", mode: "run", output: "x", depth: 1 },
  {
    kind: "report_ready", ...common(1), converged: false,
    failures: [{ id: "f1", step: "review", kind: "step_error", class: "hard", message: "refused" }],
    report: { cost: { round_usd: 0.1, cumulative_usd: 0.2 } },
  },
  { kind: "planner_started", ...common(1) },
];
const PLANNED = [
  { kind: "op_rejected", ...common(1), op: "set_instructions", target: "nowhere", reasonCode: "unknown_target", message: "there is no step `nowhere`" },
  { kind: "op_rejected", ...common(1), op: "set_instructions", target: "nowhere", reasonCode: "unknown_target", message: "there is no step `nowhere`" },
  { kind: "ops_proposed", ...common(1), ops: [{ op: "set_retries", target: "publish", reason: "it is last" }], rationale: "No tone.", diff: "-a\n+b\n" },
];
const APPLIED = [
  { kind: "edit_sent", ...common(1), place: "report/1:plan1", changes: [{ op: "set_retries", target: "publish", reason: "it is last" }], diff: "-a\n+b\n" },
  { kind: "edit_acknowledged", ...common(1), place: "report/1:plan1" },
];

test("what failed, what it cost, and what is being done", () => {
  const [round] = bookOf(...FAILED).rounds.all();
  expect(round).toMatchObject({
    number: 1, row: "report/1", status: "failed", reported: true, usd: 0.1, cumulativeUsd: 0.2, doing: "planning changes",
    failed: [{ step: "review", kind: "step_error", message: "refused" }],
  });
});

test("what was proposed and why, and what was rejected, once", () => {
  const [round] = bookOf(...FAILED, ...PLANNED).rounds.all();
  expect(round?.proposed).toEqual([{ op: "set_retries", target: "publish", reason: "it is last" }]);
  expect(round?.rationale).toBe("No tone.");
  expect(round?.rejected).toEqual([{ op: "set_instructions", target: "nowhere", reason: "there is no step `nowhere`", code: "unknown_target" }]);
  expect(round?.applied).toEqual([]);
});

test("a change counts as applied once the file shows it", () => {
  const before = bookOf(...FAILED, ...PLANNED, ...APPLIED.slice(0, 1)).rounds.all()[0];
  expect(before?.applied).toEqual([]);
  expect(before?.doing).toBe("changing the file");
  const [round] = bookOf(...FAILED, ...PLANNED, ...APPLIED).rounds.all();
  expect(round?.applied).toEqual(round?.proposed);
  expect(round?.doing).toBeUndefined();
});

test("a change that was not taken says why", () => {
  const refused = { kind: "edit_refused", ...common(1), failureReason: "read-only" };
  const [round] = bookOf(...FAILED, ...PLANNED, ...APPLIED.slice(0, 1), refused).rounds.all();
  expect([round?.applied, round?.refused]).toEqual([[], "read-only"]);
});

test("the round itself is no part of the graph of the file", () => {
  expect([...bookOf(...FAILED).nodes.keys()]).toEqual(["draft"]);
});

test("the facts of a round's steps lie in its row", () => {
  const row = bookOf(...FAILED).rows.get("report/1");
  expect(row?.stages.map((stage) => stage.name)).toEqual(["draft"]);
});

test("nothing is being done once the loop has ended", () => {
  const [round] = bookOf(...FAILED, { kind: "cancelled", cause: "user" }).rounds.all();
  expect(round?.doing).toBeUndefined();
});
