// Rows and patches as the server sends them, for tests that take them.
import type { Row, Stage } from "../../../src/panel/shape";
import type { ViewNotice, ViewPatch } from "../../../src/runs/state";

export const row = (id: string, last: number, more: Partial<Row> = {}): Row => ({
  id, kind: "iteration", name: "develop", depth: 0, number: Number(id.split("/").at(-1)) || 0, attempt: 1, status: "running", excerpt: "",
  length: 0, tokens: 0, startedAt: "2026-01-31T12:00:00Z", stages: [], warnings: [], first: last, last, ...more,
});

export const stage = (place: string, more: Partial<Stage> = {}): Stage => ({
  place, name: place.split("/").at(-1) ?? "", mode: "run", status: "running", startedAt: "2026-01-31T12:00:00Z", ...more,
});

export const patch = (seq: number, ...rows: Row[]): ViewPatch => ({ seq, rows });

export const notice = (after: number, seq: number, ...rows: Row[]): ViewNotice => ({ runId: "r", after, seq, rows });

/** A step, and a loop with its iterations, as they are after their end. */
export function flow(...verdicts: ("yes" | "no")[]): Row[] {
  const at = (seconds: number) => new Date(1_700_000_000_000 + seconds * 1000).toISOString();
  return [
    row("plan", 3, { kind: "step", name: "plan", first: 2, status: "completed" }),
    row("develop#loop", 4, { kind: "loop", number: verdicts.length, max: 5, condition: "It is good" }),
    ...verdicts.map((verdict, index) =>
      row(`develop/${index + 1}`, 12 + 8 * index, {
        first: 5 + 8 * index, parent: "develop#loop", max: 5, status: "completed", verdict, usd: 0.01, cost: "$0.01", excerpt: `output ${index + 1}`,
        startedAt: at(0), endedAt: at(7),
      }),
    ),
  ];
}
