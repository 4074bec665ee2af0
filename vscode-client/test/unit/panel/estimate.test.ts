// What a run may cost at most, beside what it has cost: known for real runs, and only while they go on.
import { expect, test, vi } from "vitest";
import { estimateOf } from "../../../src/panel/estimate";
import { headOf } from "../../../src/panel/head";
import { tableOf } from "../../../src/panel/web/table";
import type { RunState } from "../../../src/runs/state";
import { flow, row, stage } from "./views";

vi.mock("../../../src/panel/web/talk", () => ({ act: vi.fn() }));

const state = (more: Partial<RunState> = {}): RunState => ({ runId: "r", status: "running", uri: "file:///w/a.yaml", ...more });
const server = (answer: unknown) => ({ ask: vi.fn(async () => answer) });
const told = (calls: number | null, usd: number | null) => ({ ok: true, calls: { min: 1, max: calls }, usd: usd === null ? null : { min: 0, max: usd }, why: "" });

test("the bounds of the same loop are asked for", async () => {
  const { ask } = server(told(15, 0.09));
  const target = { kind: "loop", name: "develop" };
  expect(await estimateOf({ ask } as never, state({ target } as never))).toEqual({ calls: 15, usd: 0.09 });
  expect(ask).toHaveBeenCalledWith("loopLs.estimate", { uri: "file:///w/a.yaml", target });
  expect(headOf(state(), { calls: 15, usd: 0.09 }).estimate).toEqual({ calls: 15, usd: 0.09 });
});

test("a free run has no dollars, and what is not known is not said", async () => {
  expect(await estimateOf(server(told(15, 0)) as never, state())).toEqual({ calls: 15 });
  expect(await estimateOf(server(told(null, null)) as never, state())).toBeUndefined();
  expect(await estimateOf(server({ ok: false, code: "not_found" }) as never, state())).toBeUndefined();
});

test("a run that calls no model has no estimate", async () => {
  const { ask } = server(told(15, 0.09));
  expect(await estimateOf({ ask } as never, state({ mock: true }))).toBeUndefined();
  expect(await estimateOf({ ask } as never, state({ source: { kind: "replay" } } as never))).toBeUndefined();
  expect(ask).not.toHaveBeenCalled();
});

test("the table has the iterations of one loop and every step that ran in it", () => {
  const rows = flow("no", "yes");
  const [first, second] = rows.filter((one) => one.kind === "iteration");
  first?.stages.push(stage("develop/1/write"));
  second?.stages.push(stage("develop/2/write"), stage("develop/2/review"));
  const other = row("other/1", 90, { name: "other", parent: "other#loop" });
  const found = tableOf([...rows, other], second ?? other);
  expect(found.iterations.map(({ id }) => id)).toEqual(["develop/1", "develop/2"]);
  expect(found.steps).toEqual(["write", "review"]);
  expect(tableOf([...rows, other], rows[1] ?? other).iterations).toHaveLength(2); // from its heading
});
