// Views of runs as they come in patches: what is new replaces what was, and nothing older does.
import { describe, expect, test } from "vitest";
import type { Round } from "../../../src/panel/shape";
import { View } from "../../../src/panel/view";
import { patch, row, stage } from "./views";

function viewOf(...patches: ReturnType<typeof patch>[]): View {
  const view = new View();
  for (const one of patches) view.take(one);
  return view;
}

test("rows stand in the order in which they began, however their pages come", () => {
  const view = viewOf(patch(7, row("develop/2", 7)), patch(9, row("develop#loop", 9, { kind: "loop", first: 2 }), row("develop/1", 8, { first: 3 })));
  expect(view.ordered().map((one) => one.id)).toEqual(["develop#loop", "develop/1", "develop/2"]);
  expect(view.seq).toBe(9);
});

test("a patch that comes late does not undo a newer one", () => {
  const view = viewOf(patch(9, row("develop/1", 9, { first: 3, status: "completed" })));
  expect(view.take(patch(5, row("develop/1", 5, { first: 3 })), 4)).toBe(true);
  expect([view.rows.get("develop/1")?.status, view.seq]).toEqual(["completed", 9]);
});

test("a patch that begins after what is known is not taken", () => {
  const view = viewOf(patch(5, row("develop/1", 5)));
  expect(view.take(patch(9, row("develop/2", 9)), 7)).toBe(false);
  expect([view.seq, view.rows.size]).toEqual([5, 1]);
});

test("only rows that changed are told", () => {
  const view = viewOf(patch(5, row("develop/1", 5)));
  view.changed.clear();
  view.take(patch(6, row("develop/2", 6)));
  expect(view.ordered(view.changed).map((one) => one.id)).toEqual(["develop/2"]);
});

test("rounds and nodes of the newest patch count", () => {
  const round = (number: number, doing?: string): Round => ({
    number, row: `report/${number}`, status: "failed", doing, failed: [], proposed: [], rejected: [], applied: [], rationale: "", diff: "",
    fixation: false, reported: true, planned: false,
  });
  const view = viewOf({ ...patch(5), rounds: [round(2), round(1, "planning changes")], nodes: { draft: { status: "running" } } });
  expect([view.roundsChanged, view.nodesChanged]).toEqual([true, true]);
  view.take({ ...patch(6), rounds: [round(1)], nodes: { draft: { status: "completed" } } });
  expect(view.rounds().map((one) => [one.number, one.doing])).toEqual([[1, undefined], [2, undefined]]);
  expect(view.nodes).toEqual({ draft: { status: "completed" } });
});

describe("text that is being written", () => {
  const begun = () => viewOf(patch(5, row("develop/1", 5, { stages: [stage("develop/1/write")] })));
  const say = (view: View, text: string, more: Record<string, unknown> = {}) => {
    const place = "develop/1/write";
    view.live.hear({ runId: "r", kind: "text", place, step: "write", text, ...more }, view.rowOf(String(more.place ?? place))?.id);
  };

  test("is joined and belongs to its iteration", () => {
    const view = begun();
    say(view, "Once ");
    say(view, "upon");
    expect(view.live.all()).toEqual([{ place: "develop/1/write", row: "develop/1", label: "write", text: "Once upon" }]);
  });

  test("goes when its step has ended, and when it is tried again", () => {
    for (const more of [{ status: "completed" as const }, { note: "try 2: Too many requests." }]) {
      const view = begun();
      say(view, "Once");
      view.take(patch(6, row("develop/1", 6, { first: 5, stages: [stage("develop/1/write", more)] })));
      expect(view.live.all()).toEqual([]);
    }
  });

  test("of another try stays while something else happens", () => {
    const view = begun();
    const waits = stage("develop/1/write", { note: "try 2: Too many requests." });
    view.take(patch(6, row("develop/1", 6, { first: 5, stages: [waits] })));
    say(view, "Again");
    view.take(patch(7, row("develop/1", 7, { first: 5, stages: [waits, stage("develop/1/other")] })));
    expect(view.live.all().map((live) => live.text)).toEqual(["Again"]);
  });

  test("keeps its end where it is long", () => {
    const view = begun();
    say(view, "a".repeat(20_000));
    say(view, "the end");
    const [live] = view.live.all();
    expect(live?.text.length).toBe(12_000);
    expect(live?.text.endsWith("the end")).toBe(true);
  });

  test("of the judge goes with the verdict", () => {
    const view = begun();
    say(view, "YE", { place: "develop/1", purpose: "judge" });
    expect(view.live.all()[0]?.label).toBe("the judge");
    view.take(patch(6, row("develop/1", 6, { first: 5, status: "completed" })));
    expect(view.live.all()).toHaveLength(1);
    view.take(patch(7, row("develop/1", 7, { first: 5, status: "completed", verdict: "yes" })));
    expect(view.live.all()).toEqual([]);
  });
});
