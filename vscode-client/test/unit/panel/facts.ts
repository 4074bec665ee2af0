// Facts of runs as the server sends them, numbered from 1, for tests that fold them.
import type { RunEvent } from "../../../src/runs/state";
import { Book } from "../../../src/panel/book";

type Loose = Record<string, unknown> & { kind: string };

export function numbered(facts: Loose[], from = 1): RunEvent[] {
  return facts.map((fact, index) => ({ runId: "r", at: new Date(1_700_000_000_000 + index * 1000).toISOString(), ...fact, seq: from + index }));
}

export function bookOf(...facts: Loose[]): Book {
  const book = new Book();
  for (const fact of numbered(facts)) book.take(fact);
  return book;
}

/** One iteration of `develop` with two steps and its verdict. */
export function iteration(number: number, verdict: string, output = `output ${number}`): Loose[] {
  const place = `develop/${number}`;
  const within = { loop: "develop", iteration: number, depth: 1 };
  return [
    { kind: "iteration_started", place, loop: "develop", iteration: number, maxIterations: 5 },
    { kind: "step_started", place: `${place}/write`, step: "write", mode: "run", ...within },
    { kind: "call", place: `${place}/write`, usd: 0.01, tokens: { input: 10, output: 5 }, ...within },
    { kind: "step_completed", place: `${place}/write`, step: "write", output: "draft", ...within },
    { kind: "step_started", place: `${place}/review`, step: "review", mode: "run", ...within },
    { kind: "step_completed", place: `${place}/review`, step: "review", output, ...within },
    { kind: "iteration", place, loop: "develop", iteration: number, output, maxIterations: 5 },
    { kind: "judged", place, loop: "develop", iteration: number, verdict, answer: verdict.toUpperCase() },
  ];
}

export const begun: Loose[] = [
  { kind: "run_started", format: "workflow", name: "flow" },
  { kind: "step_started", place: "plan", step: "plan", mode: "run" },
  { kind: "step_completed", place: "plan", step: "plan", mode: "run", output: "the plan" },
  { kind: "step_started", place: "develop", step: "develop", mode: "loop", condition: "It is good", maxIterations: 5 },
];
