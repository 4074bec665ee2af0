// Facts folded into the rows that people see.
import { describe, expect, test } from "vitest";
import { Book } from "../../../src/panel/book";
import { begun, bookOf, iteration, numbered } from "./facts";

describe("rows", () => {
  const book = bookOf(...begun, ...iteration(1, "no"), ...iteration(2, "yes"));
  const rows = [...book.rows.values()];

  test("steps, the heading of a loop, and its iterations stand in the order in which they began", () => {
    expect(rows.map((row) => [row.kind, row.id, row.parent])).toEqual([
      ["step", "plan", undefined],
      ["loop", "develop#loop", undefined],
      ["iteration", "develop/1", "develop#loop"],
      ["iteration", "develop/2", "develop#loop"],
    ]);
  });

  test("an iteration has verdict, beginning of its output, steps and cost", () => {
    const row = book.rows.get("develop/1");
    expect(row).toMatchObject({ status: "completed", verdict: "no", excerpt: "output 1", usd: 0.01, tokens: 15, max: 5 });
    expect(row?.stages.map((stage) => [stage.name, stage.status, stage.usd])).toEqual([
      ["write", "completed", 0.01],
      ["review", "completed", undefined],
    ]);
    expect(row && row.endedAt! - row.startedAt).toBe(7000);
  });

  test("a row knows which facts are its own", () => {
    const row = book.rows.get("develop/2");
    expect([row?.first, row?.last]).toEqual([13, 20]);
  });

  test("the heading says the condition and how far it is", () => {
    expect(book.rows.get("develop#loop")).toMatchObject({ condition: "It is good", number: 2, max: 5, verdict: "yes" });
  });

  test("the graph is lit where something was", () => {
    expect(Object.fromEntries(book.nodes)).toEqual({
      plan: { status: "completed" },
      develop: { status: "running", note: "2/5" },
      "develop/write": { status: "completed" },
      "develop/review": { status: "completed" },
    });
  });
});

test("a fact is taken once and in order", () => {
  const book = new Book();
  const [first, second, third] = numbered(begun);
  expect(book.take(first!)).toBe(true);
  expect(book.take(third!)).toBe(false);
  expect(book.take(first!)).toBe(false);
  expect(book.take(second!)).toBe(true);
  expect(book.seq).toBe(2);
});

test("a new iteration puts out what its loop calls", () => {
  const book = bookOf(...begun, ...iteration(1, "no"), { kind: "iteration_started", place: "develop/2", loop: "develop", iteration: 2 });
  expect([...book.nodes.keys()]).toEqual(["plan", "develop"]);
});

test("a name that is a number is no iteration", () => {
  const book = bookOf({ kind: "run_started", format: "workflow" }, { kind: "step_started", place: "3", step: "3", mode: "run" });
  expect([...book.nodes.keys()]).toEqual(["3"]);
});

test("loops inside of iterations lie below them, and their cost counts for both", () => {
  const book = bookOf(
    { kind: "run_started", format: "workflow" },
    { kind: "step_started", place: "outer", step: "outer", mode: "loop" },
    { kind: "iteration_started", place: "outer/1", loop: "outer", iteration: 1 },
    { kind: "step_started", place: "outer/1/inner", step: "inner", mode: "loop" },
    { kind: "iteration_started", place: "outer/1/inner/1", loop: "inner", iteration: 1 },
    { kind: "call", place: "outer/1/inner/1/write", usd: 0.5, tokens: { input: 1, output: 1 } },
  );
  expect(book.rows.get("outer/1/inner/1")?.parent).toBe("outer/1/inner#loop");
  expect(book.rows.get("outer/1/inner#loop")?.parent).toBe("outer/1");
  for (const id of ["outer/1/inner/1", "outer/1/inner#loop", "outer/1", "outer#loop"]) expect(book.rows.get(id)?.usd).toBe(0.5);
});

test("what another run has paid for costs nothing here", () => {
  const book = bookOf(...begun, { kind: "iteration_started", place: "develop/1", loop: "develop", iteration: 1 }, {
    kind: "call", place: "develop/1/write", usd: 1, copied: true,
  });
  expect(book.rows.get("develop/1")?.usd).toBeUndefined();
});

test("waiting for another try is said, and forgotten when it goes on (UP-73)", () => {
  const waiting = { kind: "retrying", place: "develop/1/write", attempt: 2, delay: 4, because: { message: "Too many requests." } };
  const facts = [...begun, ...iteration(1, "no").slice(0, 2), waiting];
  const book = bookOf(...facts);
  expect(book.rows.get("develop/1")?.note).toBe("try 2, in 4 s: Too many requests.");
  expect(book.rows.get("develop/1")?.stages[0]?.note).toBe("try 2, in 4 s: Too many requests.");
  const on = bookOf(...facts, ...iteration(1, "no").slice(3));
  expect(on.rows.get("develop/1")?.note).toBeUndefined();
});

test("a person's decision is waited for and then it goes on", () => {
  const asked = { kind: "manual_approval_required", place: "develop/1", loopId: "x", iteration: 1, output: "o" };
  const facts = [...begun, ...iteration(1, "no").slice(0, -1), asked];
  expect(bookOf(...facts).rows.get("develop/1")?.status).toBe("waiting");
  expect(bookOf(...facts, { kind: "approval_resolved", place: "develop/1", approved: true }).rows.get("develop/1")?.status).toBe("completed");
});

test("what still ran when a run was stopped says so", () => {
  const book = bookOf(...begun, ...iteration(1, "no").slice(0, 2), { kind: "cancelled", cause: "user" });
  expect(book.rows.get("develop/1")?.status).toBe("cancelled");
  expect(book.rows.get("develop/1")?.stages[0]?.status).toBe("cancelled");
  expect(book.nodes.get("develop/write")?.status).toBe("cancelled");
});

test("a long output is known by its length, not kept", () => {
  const output = "x".repeat(4000);
  const book = bookOf(...begun, { kind: "iteration_started", place: "develop/1", loop: "develop", iteration: 1 }, {
    kind: "iteration", place: "develop/1", iteration: 1, output, cut: { output: 10_485_760 },
  });
  expect(book.rows.get("develop/1")?.length).toBe(10_485_760);
  expect(book.rows.get("develop/1")?.excerpt.length).toBe(200);
});

test("only rows that changed are told", () => {
  const book = bookOf(...begun, ...iteration(1, "no"));
  book.changed.clear();
  for (const fact of numbered(iteration(2, "no").slice(0, 2), book.seq + 1)) book.take(fact);
  expect([...book.changed].sort()).toEqual(["develop#loop", "develop/2"]);
});

describe("text that is being written", () => {
  const facts = [...begun, ...iteration(1, "no").slice(0, 2)];
  const text = (words: string) => ({ runId: "r", kind: "text", place: "develop/1/write", step: "write", text: words });

  test("is joined and belongs to its iteration", () => {
    const book = bookOf(...facts);
    book.take(text("Once "));
    book.take(text("upon"));
    expect(book.live.all()).toEqual([{ place: "develop/1/write", row: "develop/1", label: "write", text: "Once upon" }]);
  });

  test("goes when its step has ended, and when it is tried again", () => {
    for (const kind of ["step_completed", "retrying"]) {
      const book = bookOf(...facts);
      book.take(text("Once"));
      book.take({ runId: "r", kind, place: "develop/1/write", step: "write", output: "Once", seq: book.seq + 1 });
      expect(book.live.all()).toEqual([]);
    }
  });

  test("keeps its end where it is long", () => {
    const book = bookOf(...facts);
    book.take(text("a".repeat(20_000)));
    book.take(text("the end"));
    const [live] = book.live.all();
    expect(live?.text.length).toBe(12_000);
    expect(live?.text.endsWith("the end")).toBe(true);
  });

  test("of the judge goes with the verdict", () => {
    const book = bookOf(...facts);
    book.take({ runId: "r", kind: "text", place: "develop/1", purpose: "judge", text: "YE" });
    expect(book.live.all()[0]?.label).toBe("the judge");
    book.take({ runId: "r", kind: "judged", place: "develop/1", verdict: "yes", seq: book.seq + 1 });
    expect(book.live.all()).toEqual([]);
  });
});
