// The plain arithmetic behind the page: long lists, the tree of rows, the graph, words.
import { describe, expect, test } from "vitest";
import { headOf, sentenceOf } from "../../../src/panel/head";
import { lineOfFact } from "../../../src/panel/gist";
import type { GraphNode, Row } from "../../../src/panel/shape";
import { drawingOf, layersOf } from "../../../src/panel/web/graph/layout";
import { before, EMPTY, newest, taken } from "../../../src/panel/web/model";
import { seenRows, stepOf } from "../../../src/panel/web/tree";
import { offsetsOf, rowAt, scrolledTo, windowOf } from "../../../src/panel/web/virtual";
import { badge, duration, progressLabel, rowLabel, size } from "../../../src/panel/web/words";
import { flow } from "./views";

/** A run that has ended, as the engine says it. */
const ended = (kind: "success" | "limit", line: string, more: object = {}) => ({
  status: "completed",
  ending: { kind, line, sign: kind === "success" ? "✓" : "◼", short: line },
  ...more,
});

describe("long lists", () => {
  const offsets = offsetsOf(Array.from({ length: 1000 }, (_, index) => (index % 10 === 0 ? 34 : 54)));

  test("offsets add up", () => {
    expect(offsets.slice(0, 4)).toEqual([0, 34, 88, 142]);
    expect(offsets.at(-1)).toBe(100 * 34 + 900 * 54);
  });

  test("the row at a height is the one that covers it", () => {
    for (const index of [0, 1, 500, 999]) {
      expect(rowAt(offsets, offsets[index]!)).toBe(index);
      expect(rowAt(offsets, offsets[index + 1]! - 1)).toBe(index);
    }
  });

  test("of a thousand rows only those in sight are drawn, and a few more", () => {
    const { from, to } = windowOf(offsets, 20_000, 400);
    expect(to - from).toBeLessThan(24);
    expect(offsets[from]!).toBeLessThan(20_000);
    expect(offsets[to]!).toBeGreaterThan(20_400);
  });

  test("without rows, and scrolled beyond the end, nothing breaks", () => {
    expect(windowOf(offsetsOf([]), 0, 400)).toEqual({ from: 0, to: 0 });
    expect(windowOf(offsets, 1e9, 400).to).toBe(1000);
  });

  test("a row is brought into sight with as little movement as possible", () => {
    expect(scrolledTo(offsets, 0, 500, 400)).toBe(0);
    expect(scrolledTo(offsets, 2, 50, 400)).toBe(50);
    expect(scrolledTo(offsets, 999, 0, 400)).toBe(offsets[1000]! - 400);
  });
});

describe("the tree of rows", () => {
  const rows = flow("no", "yes");
  const ids = (opened = {}) => seenRows(rows, opened).map((one) => `${one.level} ${one.row.id}`);

  test("a heading is open, and closes over its iterations", () => {
    expect(ids()).toEqual(["1 plan", "1 develop#loop", "2 develop/1", "2 develop/2"]);
    expect(ids({ "develop#loop": false })).toEqual(["1 plan", "1 develop#loop"]);
  });

  test("arrow keys lead through it, open and close", () => {
    const seen = seenRows(rows, {});
    expect(stepOf(seen, "plan", "ArrowDown")).toEqual({ select: "develop#loop" });
    expect(stepOf(seen, "develop/2", "ArrowDown")).toEqual({ select: "develop/2" });
    expect(stepOf(seen, "develop/2", "ArrowLeft")).toEqual({ select: "develop#loop" });
    expect(stepOf(seen, "develop#loop", "ArrowLeft")).toEqual({ open: { id: "develop#loop", open: false } });
    expect(stepOf(seenRows(rows, { "develop#loop": false }), "develop#loop", "ArrowRight")).toEqual({ open: { id: "develop#loop", open: true } });
    expect(stepOf(seen, "develop/2", "Home")).toEqual({ select: "plan" });
    expect(stepOf(seen, undefined, "End")).toEqual({ select: "develop/2" });
    expect(stepOf([], undefined, "ArrowDown")).toEqual({ select: undefined });
  });

  test("the newest iteration is shown to whoever has chosen none", () => {
    expect(newest(rows)?.id).toBe("develop/2");
    expect(newest(rows.slice(0, 1))?.id).toBe("plan");
    expect(newest([])).toBeUndefined();
    expect(before(rows, rows.at(-1)!)?.id).toBe("develop/1");
  });
});

test("messages of the host change the model row by row", () => {
  const rows = flow("no");
  const all = taken(EMPTY, { type: "all", rows, rounds: [], live: [], graph: [], nodes: {}, reading: false, banner: { tone: "bad", text: "x" } });
  const row: Row = { ...rows.at(-1)!, excerpt: "new" };
  const next = taken(all, { type: "change", rows: [row], banner: null });
  expect(next.rows.map((one) => one.id)).toEqual(all.rows.map((one) => one.id));
  expect(next.byId.get(row.id)?.excerpt).toBe("new");
  expect(next.rows[0]).toBe(all.rows[0]);
  expect([all.banner?.text, next.banner]).toEqual(["x", undefined]);
  expect(taken(next, { type: "change", reading: false }).rows).toBe(next.rows);
});

describe("the graph", () => {
  const node = (name: string, ...needs: string[]): GraphNode => ({ name, kind: "step", mode: "run", needs });
  const nodes = [node("a"), node("b"), node("c", "a", "b"), node("d", "c", "a")];

  test("each step stands below what it waits for", () => {
    expect(layersOf(nodes).map((layer) => layer.map((one) => one.name))).toEqual([["a", "b"], ["c"], ["d"]]);
  });

  test("a circle ends, and an unknown name is no edge", () => {
    const circle = [node("a", "b"), node("b", "a"), node("c", "nowhere")];
    expect(layersOf(circle).flat().map((one) => one.name).sort()).toEqual(["a", "b", "c"]);
    expect(drawingOf([node("c", "nowhere")]).lines).toEqual([]);
  });

  test("no two boxes overlap, and all lie inside", () => {
    const { boxes, width, height } = drawingOf(Array.from({ length: 12 }, (_, index) => node(`step_${index}`, ...(index > 3 ? [`step_${index - 4}`] : []))));
    for (const one of boxes) {
      expect(one.x).toBeGreaterThanOrEqual(0);
      expect(one.x + one.width).toBeLessThanOrEqual(width);
      expect(one.y + one.height).toBeLessThanOrEqual(height);
      for (const other of boxes) {
        if (one === other) continue;
        const apart = one.x + one.width <= other.x || other.x + other.width <= one.x || one.y + one.height <= other.y || other.y + other.height <= one.y;
        expect(apart).toBe(true);
      }
    }
  });

  test("what a step waits for through another is not drawn twice", () => {
    expect(drawingOf(nodes).lines.map((line) => `${line.from}>${line.to}`).sort()).toEqual(["a>c", "b>c", "c>d"]);
  });

  test("a loop is a frame around what it calls", () => {
    const { boxes, lines } = drawingOf([{ ...node("develop"), kind: "loop", inner: [node("write"), node("review", "write")] }]);
    const frame = boxes.find((box) => box.path === "develop")!;
    for (const path of ["develop/write", "develop/review"]) {
      const box = boxes.find((one) => one.path === path)!;
      expect(box.x).toBeGreaterThan(frame.x);
      expect(box.x + box.width).toBeLessThan(frame.x + frame.width);
      expect(box.y + box.height).toBeLessThan(frame.y + frame.height);
    }
    expect(lines).toHaveLength(1);
  });
});

describe("words", () => {
  test("numbers are said as people say them", () => {
    expect([duration(840), duration(12_400), duration(185_000)]).toEqual(["840 ms", "12.4 s", "03:05"]);
    expect([size(1), size(65_536), size(10_485_760)]).toEqual(["1 character", "66k characters", "10.5M characters"]);
  });

  test("the ring says how far the loop is", () => {
    const head = headOf({ runId: "r", status: "running", iteration: 3, maxIterations: 5 });
    expect([progressLabel(head), badge(head)]).toEqual(["loop progress, iteration 3 of 5", "3/5"]);
    const open = headOf({ runId: "r", status: "running", iteration: 3 });
    expect([progressLabel(open), badge(open)]).toEqual(["loop progress, iteration 3", "3"]);
    expect(progressLabel(headOf({ runId: "r", format: "enhance", status: "running", iteration: 1, maxIterations: 3 }))).toBe("loop progress, round 1 of 3");
  });

  test("a row is said whole", () => {
    const row = flow("no").at(-1)!;
    expect(rowLabel(row, "iteration", 0)).toBe("iteration 1 of 5, NO, 7.0 s, $0.01, output 1");
  });

  test.each([
    [ended("success", "condition met in iteration 3", { reason: "condition_met" }), "condition met in iteration 3", "good"],
    [ended("limit", "limit reached after 5 iterations, condition not met"), "limit reached after 5 iterations, condition not met", "limit"],
    [{ status: "completed", reason: "budget", iteration: 2 }, "budget used up", "limit"],
    [ended("success", "converged in round 2", { format: "enhance" }), "converged in round 2", "good"],
    [{ status: "completed", reason: "no_ops", iteration: 2, format: "enhance" }, "the planner proposed no allowed change", "limit"],
    [{ status: "completed", reason: "completed" }, "completed", "good"],
    [{ status: "failed", reason: "rejected" }, "rejected", "bad"],
    [{ status: "failed", reason: "error" }, "failed", "bad"],
    [{ status: "cancelled", reason: "user" }, "stopped", "still"],
    [{ status: "interrupted" }, "interrupted: lost the connection to the engine", "still"],
    [{ status: "waiting_approval" }, "waiting for your approval", "going"],
  ])("how it stands: %j", (state, sentence, tone) => {
    expect(sentenceOf({ runId: "r", ...state })).toBe(sentence);
    expect(headOf({ runId: "r", ...state }).tone).toBe(tone);
  });

  test("a head tells what is asked of people, and nothing of a run that has ended", () => {
    const asked = { loopId: "x", iteration: 2, output: "poem", revise: false, place: "x/2" };
    expect(headOf({ runId: "r", status: "waiting_approval", pendingApproval: asked }).approvals).toEqual([{ ...asked, touched: false, blocked: false }]);
    const made = { branch: "loop-ls/r", folder: "/d", base: "1", commit: "2", changed: 2 };
    const done = { runId: "r", status: "completed" as const, reason: "completed", worktree: made };
    expect(headOf(done)).toMatchObject({ changes: "2 files changed on branch loop-ls/r", restorable: true });
    expect(headOf({ ...done, worktree: { ...made, decision: "applied" as const } })).toMatchObject({ changes: undefined, restorable: undefined });
    const touched = { ...asked, protected: [{ path: "package.json", change: "changed" as const }] };
    expect(headOf({ runId: "r", status: "waiting_approval", pendingApproval: touched }).approvals[0]?.touched).toBe(true);
    expect(headOf({ runId: "r", status: "cancelled", pendingApproval: asked }).approvals).toEqual([]);
    const question = { kind: "loop_paused" as const, reason: "conflict", round: 1, failureReason: "read-only" };
    expect(headOf({ runId: "r", status: "paused", question }).choice).toEqual({ kind: "conflict", round: 1, why: "The change of round 1 is not in the file: read-only." });
    const typed = { ...question, conflict: "document_invalid", failureReason: "`a.yaml` cannot be run: line 3: no. Fix it." };
    expect(headOf({ runId: "r", status: "paused", question: typed }).choice?.why).toBe(typed.failureReason);
  });

  test("facts are told in one line", () => {
    const told = (fact: Record<string, unknown>) => lineOfFact({ runId: "r", seq: 1, kind: "x", ...fact }).gist;
    expect(told({ kind: "judged", verdict: "no", answer: "NO, not\nyet" })).toBe("NO NO, not yet");
    expect(told({ kind: "call", provider: "p", model: "m", tokens: { input: 3, output: 4 }, usd: 0.01 })).toBe("p/m 3+4 tokens $0.01");
    expect(told({ kind: "step_failed", error: { message: "boom" } })).toBe("boom");
    expect(told({ kind: "iteration", output: "<img src=x>" })).toBe("<img src=x>");
  });
});

test("only where something is judged is there a question to the judge", () => {
  const state = (type?: string) => ({ runId: "r", status: "running", format: "assistant", ...(type ? { criterion: { type } } : {}) }) as never;
  expect([undefined, "regex", "test_pass", "manual", "max_iterations"].map((type) => headOf(state(type)).judged)).toEqual([true, true, true, false, false]);
});
