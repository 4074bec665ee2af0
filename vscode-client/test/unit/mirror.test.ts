// A run in the Testing view: rows of its view become items, and what they say is read once.
import { expect, test, vi } from "vitest";
import type * as vscode from "vscode";
import type { Server } from "../../src/part";
import type { Items } from "../../src/views/testing/items";
import { Mirror } from "../../src/views/testing/mirror";
import { row } from "./panel/views";

function scene() {
  const told: string[] = [];
  const asked: Record<string, unknown>[] = [];
  const run = {
    started: (item: { id: string }) => told.push(`started ${item.id}`),
    passed: (item: { id: string }) => told.push(`passed ${item.id}`),
    skipped: (item: { id: string }) => told.push(`skipped ${item.id}`),
    failed: vi.fn(),
    appendOutput: (text: string) => told.push(text.trim()),
    end: () => told.push("end"),
  } as unknown as vscode.TestRun;
  const home = { id: "develop" } as vscode.TestItem;
  const items = {
    clearIterations: () => undefined,
    loopIn: () => home,
    iteration: (_: unknown, number: number) => ({ id: `develop/${number}` }),
    targetOf: () => undefined,
  } as unknown as Items;
  const verdicts: Record<string, string> = { "develop/1": "no", "develop/2": "yes" };
  const ask = async (command: string, argument: Record<string, unknown>) => {
    asked.push({ command, ...argument });
    const place = String(argument.place);
    const number = Number(place.split("/").at(-1));
    return { ok: true, history: argument.place ? [{ place, loop: "develop", iteration_number: number, output: `draft ${number}`, verdict: verdicts[place] }] : [] };
  };
  const mirror = new Mirror({ ask } as unknown as Server, items, run, home, "r", false);
  return { mirror, told, asked };
}

test("an iteration begins, and its output and verdict are told once each", async () => {
  const { mirror, told, asked } = scene();
  mirror.take([row("develop/1", 5)]);
  expect(asked).toEqual([]);
  const judged = row("develop/1", 9, { first: 5, status: "completed", verdict: "no" });
  mirror.take([judged]);
  mirror.take([{ ...judged, last: 10 }]);
  await vi.waitFor(() => expect(told).toContain("skipped develop/1"));
  expect(asked).toEqual([{ command: "loopLs.history", runId: "r", place: "develop/1", afterSeq: 4, untilSeq: 9 }]);
  expect(told).toEqual(["started develop", "started develop/1", "iteration 1:\r\ndraft 1", 'iteration 1: NO - "draft 1"', "skipped develop/1"]);
  mirror.take([row("develop/2", 14, { first: 11, status: "completed", verdict: "yes" })]);
  await vi.waitFor(() => expect(told).toContain("passed develop/2"));
});

test("headings, steps and iterations of called workflows are none of its children", () => {
  const { mirror, told, asked } = scene();
  mirror.take([row("develop#loop", 4, { kind: "loop" }), row("plan", 3, { kind: "step", status: "completed" }), row("develop/1/polish/1", 8, { depth: 1, status: "completed" })]);
  expect([told, asked]).toEqual([["started develop"], []]);
});

test("after the run has ended nothing is told any more", async () => {
  const { mirror, told } = scene();
  await mirror.end({ runId: "r", status: "completed", reason: "completed" });
  const before = [...told];
  mirror.take([row("develop/1", 9, { status: "completed", verdict: "no" })]);
  expect([told.at(-1), told]).toEqual(["end", before]);
});
