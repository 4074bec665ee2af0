import { expect, test } from "vitest";
import { RunStore } from "../../src/runs/store";
import { money } from "../../src/runs/money";
import { ago, endingOf, lineOf, lineOfRun, progressOf } from "../../src/runs/words";

test.each([
  [{ kind: "iteration", iteration: 2, maxIterations: 5, output: "a\n b" }, "iteration 2/5: a b"],
  [{ kind: "judged", iteration: 2, verdict: "no" }, "iteration 2: NO"],
  [{ kind: "completed", reason: "condition_met" }, "completed: condition met"],
  [{ kind: "recovered" }, "recovered after a restart; one call may have been paid twice"],
  [{ kind: "round_started", round: 2, maxRounds: 3 }, "round 2 of 3"],
  [{ kind: "ops_proposed", rationale: "no tone" }, "proposed: no tone"],
  [{ kind: "edit_acknowledged" }, "the change is in the file"],
  [{ kind: "edit_refused", failureReason: "read-only" }, "the change was not taken: read-only"],
  [{ kind: "text", output: "x" }, undefined],
])("a fact is one line: %j", (event, line) => {
  expect(lineOf({ runId: "r", ...event })).toBe(line);
});

test("a limit does not read like a success", () => {
  expect(endingOf({ runId: "r", name: "develop", status: "completed", reason: "max_iterations", iteration: 5 })).toBe(
    "develop: limit reached after 5 iterations, condition not met.",
  );
  expect(endingOf({ runId: "r", name: "develop", status: "completed", reason: "condition_met", iteration: 3 })).toBe(
    "develop: condition met in iteration 3.",
  );
});

test("rounds end converged, or give up and say why", () => {
  const state = { runId: "r", name: "report", format: "enhance", status: "completed", iteration: 2 };
  expect(endingOf({ ...state, reason: "converged" })).toBe("report: converged in round 2.");
  expect(endingOf({ ...state, reason: "max_rounds" })).toBe("report: gave up after round 2 (max rounds).");
});

test("a state that is older than what is known changes nothing", () => {
  const runs = new RunStore();
  runs.take({ runId: "a", status: "completed", lastSeq: 9 });
  runs.take({ runId: "a", status: "running", lastSeq: 8 });
  expect(runs.get("a")?.status).toBe("completed");
});

test("a run that was deleted elsewhere leaves the store", () => {
  const runs = new RunStore();
  const removed: string[] = [];
  runs.onDidRemove((runId) => removed.push(runId));
  runs.take({ runId: "a", status: "completed" });
  runs.happen({ runId: "a", kind: "deleted" });
  expect([runs.all(), removed]).toEqual([[], ["a"]]);
});

test("the server's line is shown as it is; without one the state speaks", () => {
  const said = { sign: "✓", line: "condition met in iteration 3", spent: "$0.047 · 01:12" };
  expect(lineOfRun({ runId: "a", status: "completed", said })).toBe("✓ condition met in iteration 3");
  expect(lineOfRun({ runId: "a", status: "running", said: { ...said, sign: "", line: "iteration 3/5 · 2 NO" } })).toBe("iteration 3/5 · 2 NO");
  expect(lineOfRun({ runId: "a", status: "completed", reason: "max_iterations" })).toBe("max iterations");
});

test.each([
  [undefined, ""],
  [0, "$0"],
  [0.0004, "$0.0004"],
  [0.0312, "$0.031"],
  [12.5, "$12.50"],
])("money %s is said as %s", (usd, words) => {
  expect(money(usd)).toBe(words);
});

test.each([
  [5, "just now"],
  [60, "1 minute ago"],
  [600, "10 minutes ago"],
  [7200, "2 hours ago"],
  [90_000, "1 day ago"],
])("%d seconds are %s", (seconds, words) => {
  const now = Date.parse("2026-01-31T12:00:00Z");
  expect(ago(new Date(now - seconds * 1000).toISOString(), now)).toBe(words);
});

test("progress is counted where there is something to count", () => {
  expect(progressOf({ runId: "a", status: "running", iteration: 3, maxIterations: 5 })).toBe("3/5");
  expect(progressOf({ runId: "a", status: "running", iteration: 3 })).toBe("3");
  expect(progressOf({ runId: "a", status: "running", iteration: 0, maxIterations: 5 })).toBe("");
});
