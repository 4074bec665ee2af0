import { beforeEach, expect, test, vi } from "vitest";
import * as vscode from "vscode";
import { type RunState } from "../../src/runs/state";
import { RunStore } from "../../src/runs/store";
import { endingOf, lineOf } from "../../src/runs/words";
import { statusPart } from "../../src/views/status";

const item = { show: vi.fn(), hide: vi.fn(), dispose: vi.fn(), text: "", name: "", tooltip: "", command: "" };
const channel = { appendLine: vi.fn(), show: vi.fn(), dispose: vi.fn() };

beforeEach(() => {
  vi.clearAllMocks();
  vi.mocked(vscode.window.createStatusBarItem).mockReturnValue(item as never);
  vi.mocked(vscode.window.createOutputChannel).mockReturnValue(channel as never);
  vi.mocked(vscode.window.showInformationMessage).mockResolvedValue(undefined);
  vi.mocked(vscode.window.showErrorMessage).mockResolvedValue(undefined);
});

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

/** The part, fed as the server feeds it. */
function shown(...states: RunState[]): void {
  const runs = new RunStore();
  statusPart({ runs } as never);
  for (const state of states) runs.take(state);
}

test("the status item counts what runs and goes when nothing does", () => {
  const develop = { runId: "a", name: "develop", status: "running", iteration: 3, maxIterations: 5 };
  shown(develop);
  expect(item.text).toContain("develop 3/5");
  const both = [develop, { runId: "b", name: "test", status: "running" }];
  shown(...both);
  expect(item.text).toContain("2 loops");
  expect(item.hide).not.toHaveBeenCalled();
  shown(...both, { runId: "a", status: "completed", reason: "condition_met" }, { runId: "b", status: "cancelled" });
  expect(item.hide).toHaveBeenCalled();
});

test("an ending is announced once", () => {
  const end = { runId: "a", name: "develop", status: "completed", reason: "condition_met", iteration: 2 };
  shown({ runId: "a", name: "develop", status: "running" }, end, end);
  expect(vscode.window.showInformationMessage).toHaveBeenCalledTimes(1);
});

test("a run that had ended before the window opened is not announced", () => {
  shown({ runId: "a", name: "old", status: "completed", reason: "condition_met", iteration: 1 });
  expect(vscode.window.showInformationMessage).not.toHaveBeenCalled();
});

test("a state that is older than what is known changes nothing", () => {
  const runs = new RunStore();
  runs.take({ runId: "a", status: "completed", lastSeq: 9 });
  runs.take({ runId: "a", status: "running", lastSeq: 8 });
  expect(runs.get("a")?.status).toBe("completed");
});
