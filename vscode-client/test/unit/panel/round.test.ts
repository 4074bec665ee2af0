// A round of an enhance loop as the panel shows it: what its trials on cases came to stands there.
import type { ComponentChild, VNode } from "preact";
import { expect, test, vi } from "vitest";
import type { Head, Round, Row } from "../../../src/panel/shape";
import { EMPTY, roundOf } from "../../../src/panel/web/model";
import { RoundView } from "../../../src/panel/web/round";

vi.hoisted(() => Object.assign(globalThis, { acquireVsCodeApi: () => ({ postMessage: () => undefined, getState: () => undefined, setState: () => undefined }) }));

const round: Round = {
  number: 2, row: "report/2", status: "failed", failed: [], proposed: [], rejected: [], applied: [], rationale: "", diff: "",
  fixation: false, reported: true, planned: true,
};

/** The text of what is rendered, with the icons left out. */
function textOf(node: ComponentChild): string {
  if (node === null || node === undefined || typeof node === "boolean") return "";
  if (Array.isArray(node)) return node.map(textOf).join("");
  if (typeof node !== "object") return String(node);
  const { type, props } = node as VNode<{ children?: ComponentChild; name?: string }>;
  if (typeof type !== "function") return textOf(props.children as ComponentChild) + (type === "li" || type === "p" ? "\n" : "");
  if (type.name === "Icon") return `[${props.name}]`;
  return textOf((type as (given: unknown) => ComponentChild)(props));
}

function shown(more: Partial<Round>): string[] {
  const text = textOf(RoundView({ round: { ...round, ...more }, head: { max: 3, caps: {} } as Head }));
  return text.split("\n");
}

test("the trials of a round and the score of each case are shown", () => {
  const cases = [{ case: "sea", passes: 3, trials: 3 }, { case: "hills", passes: 1, trials: 3 }];
  const lines = shown({ trials: "4 of 6 trials passed", cases, notTaken: "not better in its first trials" });
  expect(lines).toContain("[check]sea 3 of 3");
  expect(lines).toContain("[cross]hills 1 of 3");
  expect(lines.join()).toContain("4 of 6 trials passed");
  expect(lines).toContain("Not applied: not better in its first trials");
});

test("a round without cases says nothing of trials", () => {
  const lines = shown({});
  expect(lines.join()).not.toContain("Trials");
  expect(lines.join()).toContain("What failed");
});

test("what happens inside a round shows that round", () => {
  const rows = [{ id: "report/2" }, { id: "report/2/develop#loop", parent: "report/2" }, { id: "report/2/develop/1", parent: "report/2/develop#loop" }] as Row[];
  const model = { ...EMPTY, rounds: [{ ...round, number: 1, row: "report/1" }, round], byId: new Map(rows.map((row) => [row.id, row])) };
  for (const row of rows) expect(roundOf(model, row)?.number).toBe(2);
  expect(roundOf(model, { id: "report/3" } as Row)).toBeUndefined();
  expect(roundOf(model, undefined)).toBeUndefined();
});
