// The tree of runs and the status item: what is shown of which runs, without a window.
import { expect, test, vi } from "vitest";
import * as vscode from "vscode";
import { RunList } from "../../../src/runs/list";
import type { RunState } from "../../../src/runs/state";
import { RunStore } from "../../../src/runs/store";
import { lookOf } from "../../../src/views/look";
import { summaryOf } from "../../../src/views/status";
import { contextOf, describe, groupsOf, matches } from "../../../src/views/tree/nodes";
import { RunsTree } from "../../../src/views/tree/provider";

const NOW = Date.parse("2026-01-31T12:00:00Z");
const run = (runId: string, more: Partial<RunState> = {}): RunState => ({
  runId, name: "flow", target: { kind: "loop", name: runId }, status: "running", path: "flows/flow.yaml", startedAt: "2026-01-31T11:58:00Z", ...more,
});
const asks = { status: "waiting_approval", pendingApproval: { loopId: "l", iteration: 1, output: "x" } };
const done = { status: "completed", reason: "condition_met", endedAt: "2026-01-31T11:50:00Z" };

test("runs are grouped by what people have to do about them", () => {
  const states = [run("a"), run("b", asks), run("c", done), run("d", { status: "paused" }), run("e", { status: "interrupted" })];
  const shown = groupsOf(states, "status", 50).map((group) => [group.label, group.runs.map((node) => node.runId)]);
  expect(shown).toEqual([["Waiting for you", ["b", "d", "e"]], ["Running", ["a"]], ["Done", ["c"]]]);
});

test("by file, each file has its runs", () => {
  const states = [run("a"), run("b", { ...done, path: "other.yaml" }), run("c", { path: undefined, uri: "file:///w/a%20b.yaml" })];
  expect(groupsOf(states, "file", 50).map((group) => group.label)).toEqual(["flows/flow.yaml", "a b.yaml", "other.yaml"]);
});

test("a page hides only what has ended, and says how much", () => {
  const states = [...Array.from({ length: 500 }, (_, n) => run(`r${n}`, done)), run("live")];
  const groups = groupsOf(states, "status", 50);
  expect(groups.map((group) => [group.id, group.runs.length, group.hidden])).toEqual([["running", 1, 0], ["done", 50, 450]]);
});

test.each([
  [{ iteration: 3, maxIterations: 5, costUsd: 0.031, said: { sign: "", line: "iteration 3/5 · 2 NO", spent: "" } }, "3/5 · 2 NO · $0.031 · 2 min ago"],
  [{ ...done, iteration: 3, maxIterations: 5, said: { sign: "✓", line: "condition met in iteration 3", spent: "" } }, "3/5 · condition met · 10 min ago"],
  [{ ...done, mock: true, costUsd: 0, said: { sign: "✓", line: "condition met", spent: "" } }, "mock · condition met · 10 min ago"],
  [{ ...done, source: { kind: "replay", runId: "b" }, said: { sign: "✓", line: "condition met", spent: "" } }, "replay · condition met · 10 min ago"],
  [{ ...done, imported: true, said: { sign: "✓", line: "condition met", spent: "" } }, "imported · condition met · 10 min ago"],
])("a line says progress, verdict, cost and time: %j", (state, words) => {
  expect(describe(run("a", state), NOW)).toBe(words);
});

test("menus are told what can be done", () => {
  expect(contextOf(run("a"))).toBe("run pause stop");
  expect(contextOf(run("a", asks))).toBe("run pause stop decide");
  expect(contextOf(run("a", { status: "paused" }))).toBe("run resume stop");
  expect(contextOf(run("a", { status: "stopping" }))).toBe("run");
  expect(contextOf(run("a", done))).toBe("run ended");
});

test("a limit, a success and a failure look different", () => {
  const icons = [done, { ...done, reason: "max_iterations" }, { status: "failed" }, { status: "cancelled" }].map((state) => lookOf(run("a", state)).icon);
  expect(new Set(icons).size).toBe(4);
});

test("a filter looks at name, file and result", () => {
  const state = run("compose", { ...done, said: { sign: "✓", line: "condition met", spent: "" } });
  expect([matches(state, "FLOW compose"), matches(state, "met"), matches(state, "compose failed")]).toEqual([true, true, false]);
});

const server = (answer: unknown) => {
  const status = new vscode.EventEmitter<"ready">();
  return { status: "ready" as const, onDidChangeStatus: status.event, run: vi.fn(), ask: vi.fn(async () => answer as never) };
};

function tree(answer: unknown) {
  const runs = new RunStore();
  const asked = server(answer);
  const list = new RunList(asked, runs);
  return { runs, list, asked, tree: new RunsTree(runs, list) };
}

test("the list is asked for once, however often somebody looks", async () => {
  const { runs, list, asked } = tree({ ok: true, runs: [run("a", done), run("b")] });
  list.want();
  list.want();
  await vi.waitUntil(() => runs.all().length === 2);
  expect(asked.ask).toHaveBeenCalledTimes(2); // the newest, and all that go on
});

test("what was deleted while nobody listened is forgotten when the engine is back", async () => {
  const { runs, list, asked } = tree({ ok: true, runs: [run("a", done)] });
  runs.take(run("old", done));
  list.want();
  await vi.waitUntil(() => !runs.get("old"));
  asked.ask.mockResolvedValue({ ok: true, runs: [] } as never);
  runs.engineIs(true);
  await vi.waitUntil(() => runs.all().length === 0);
});

test("whoever searches while a page is being read gets all runs, and none is forgotten", async () => {
  const every = Array.from({ length: 300 }, (_, n) => run(`r${n}`, done));
  const { runs, list, asked } = tree(undefined);
  asked.ask.mockImplementation((async (_: string, argument: { limit: number; status?: string }) => {
    await new Promise((soon) => setTimeout(soon, 5));
    return { ok: true, runs: argument.status ? [] : every.slice(0, argument.limit) };
  }) as never);
  list.want();
  await list.readMore();
  expect(runs.all()).toHaveLength(300);
  const other = tree(undefined);
  other.asked.ask.mockImplementation(asked.ask.getMockImplementation() as never);
  other.list.want();
  await other.list.readAll();
  expect(other.runs.all()).toHaveLength(300);
});

test("an engine that is gone is said first, with the way out", () => {
  const { runs, tree: shown } = tree({ ok: false });
  runs.take(run("a", { status: "interrupted" }));
  runs.engineIs(false);
  const [gone, group] = shown.getChildren();
  expect(gone).toEqual({ kind: "gone" });
  expect(gone && shown.getTreeItem(gone).command?.command).toBe("loopLs.client.restartEngine");
  expect(group && shown.getTreeItem(group).label).toBe("Waiting for you");
});

test("a burst of facts redraws a line once, and a change of group the tree", async () => {
  vi.useFakeTimers();
  const { runs, tree: shown } = tree({ ok: false });
  runs.take(run("a"));
  shown.getChildren();
  await vi.advanceTimersByTimeAsync(1000);
  const drawn = vi.fn();
  shown.onDidChangeTreeData(drawn);
  for (let seq = 1; seq <= 50; seq++) runs.take(run("a", { iteration: seq, lastSeq: seq }));
  await vi.advanceTimersByTimeAsync(1000);
  expect(drawn.mock.calls).toEqual([[{ kind: "run", runId: "a" }]]);
  runs.take(run("a", { ...done, lastSeq: 60 }));
  await vi.advanceTimersByTimeAsync(1000);
  expect(drawn).toHaveBeenLastCalledWith(undefined);
  vi.useRealTimers();
});

test("500 runs are drawn in pages", () => {
  const { runs, tree: shown } = tree({ ok: false });
  for (let n = 0; n < 500; n++) runs.take(run(`r${n}`, done));
  const began = performance.now();
  const [group, more] = shown.getChildren();
  expect(group && shown.getChildren(group)).toHaveLength(50);
  expect(more).toEqual({ kind: "more", label: "Show more (450)" });
  expect(performance.now() - began).toBeLessThan(200);
});

test("the status item says who waits first, then what runs and what it cost", () => {
  const costs = { iteration: 3, maxIterations: 5, costUsd: 0.02 };
  expect(summaryOf([run("a", costs), run("b", asks)])).toMatchObject({ text: "$(bell-dot) b waits for you", command: "loopLs.client.decide", urgent: true });
  expect(summaryOf([run("a", costs), run("b", { ...costs, costUsd: 0.021 })])?.text).toBe("$(sync~spin) 2 loops · $0.041");
  expect(summaryOf([run("develop", costs)])?.text).toBe("$(sync~spin) develop 3/5 · $0.02");
  expect(summaryOf([run("a", { status: "paused" })])?.text).toBe("$(debug-pause) a paused");
  expect(summaryOf([run("a", { status: "interrupted" })])?.text).toBe("$(debug-disconnect) a interrupted");
  expect(summaryOf([])).toBeUndefined();
});
