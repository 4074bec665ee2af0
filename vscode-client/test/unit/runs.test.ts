import { expect, test } from "vitest";
import { RunStore } from "../../src/runs/store";
import { endedAtLimit, endingKind } from "../../src/runs/state";
import { ENDINGS } from "../../src/contract/endings";
import { endingOf, lineOf, lineOfRun, progressOf, since } from "../../src/runs/words";

test.each([
  [{ kind: "iteration", iteration: 2, maxIterations: 5, output: "a\n b" }, "iteration 2/5: a b"],
  [{ kind: "judged", iteration: 2, verdict: "no" }, "iteration 2: NO"],
  [{ kind: "completed", reason: "condition_met" }, "completed: condition met"],
  [{ kind: "recovered" }, "recovered after a restart; one call may have been billed twice"],
  [{ kind: "round_started", round: 2, maxRounds: 3 }, "round 2 of 3"],
  [{ kind: "ops_proposed", rationale: "no tone" }, "proposed: no tone"],
  [{ kind: "edit_acknowledged" }, "the change is in the file"],
  [{ kind: "edit_refused", failureReason: "read-only" }, "the change was not applied: read-only"],
  [{ kind: "text", output: "x" }, undefined],
])("a fact is one line: %j", (event, line) => {
  expect(lineOf({ runId: "r", ...event })).toBe(line);
});

test("an ending is told in the words of the engine", () => {
  const ending = { kind: "limit", sign: "◼", short: "budget used up", line: "budget used up after 2 iterations" } as const;
  const state = { runId: "r", name: "develop", status: "completed", reason: "budget", ending };
  expect(endingOf(state)).toBe("develop: budget used up after 2 iterations.");
  expect(endedAtLimit(state)).toBe(true);
});

test.each(Object.entries(ENDINGS))("%s of an older engine reads like what it is", (reason, { kind, short }) => {
  const status = { success: "completed", limit: "completed", failure: "failed", blocked: "blocked", stopped: "cancelled" }[kind];
  const state = { runId: "r", name: "develop", status, reason };
  expect(endingKind(state)).toBe(kind);
  expect(endingOf(state)).toBe(`develop: ${short}.`);
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

test("how long ago a moment was; nothing where there is none", () => {
  const now = Date.parse("2026-01-31T12:00:00Z");
  const moments = ["2026-01-31T11:50:00Z", "2026-01-31T12:00:02Z", "soon", undefined];
  expect(moments.map((moment) => since(moment, now))).toEqual(["10 minutes ago", "just now", "", ""]);
  expect(since(moments[0], now, false)).toBe("10 min ago");
});

test("progress is counted where there is something to count", () => {
  expect(progressOf({ runId: "a", status: "running", iteration: 3, maxIterations: 5 })).toBe("3/5");
  expect(progressOf({ runId: "a", status: "running", iteration: 3 })).toBe("3");
  expect(progressOf({ runId: "a", status: "running", iteration: 0, maxIterations: 5 })).toBe("");
});
