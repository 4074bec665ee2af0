// Following a run: what was before is asked for, what comes is heard, nothing is lost and nothing taken twice.
import { expect, test, vi } from "vitest";
import { Following } from "../../../src/panel/following";
import type { Server, ServerStatus } from "../../../src/part";
import type { Row } from "../../../src/panel/shape";
import { View } from "../../../src/panel/view";
import type { RunState } from "../../../src/runs/state";
import { RunStore } from "../../../src/runs/store";
import { notice, row } from "./views";

class Bell<T> {
  private readonly hearers: ((value: T) => void)[] = [];
  readonly event = (hear: (value: T) => void) => {
    this.hearers.push(hear);
    return { dispose: () => undefined };
  };
  fire(value: T): void {
    for (const hear of this.hearers) hear(value);
  }
}

// Each fact begins an iteration: the row of fact 3 is `develop/3`.
const FACTS = Array.from({ length: 20 }, (_, at) => row(`develop/${at + 1}`, at + 1));
const state = (more: Partial<RunState> = {}): RunState => ({ runId: "r", status: "running", lastSeq: FACTS.length, ...more });

interface Scene {
  view: View;
  runs: RunStore;
  following: Following;
  asked: Record<string, unknown>[];
  become(status: ServerStatus): void;
  facts: Row[];
}

function scene(options: { status?: ServerStatus; facts?: Row[]; page?: number; state?: RunState; refuse?: string } = {}): Scene {
  const bell = new Bell<ServerStatus>();
  const asked: Record<string, unknown>[] = [];
  const facts = options.facts ?? [...FACTS];
  const server = {
    status: options.status ?? "ready",
    onDidChangeStatus: bell.event,
    run: vi.fn(),
    ask: async (command: string, argument: Record<string, unknown>) => {
      asked.push({ command, ...argument });
      if (options.refuse) return { ok: false, code: options.refuse, message: "No." };
      if (command === "loopLs.status") return { ok: true, state: options.state ?? state(), graph: [{ name: "plan" }] };
      const left = facts.filter((one) => one.last > (argument.afterSeq as number));
      const rows = left.slice(0, options.page ?? 1000);
      return { ok: true, seq: rows.at(-1)?.last ?? argument.afterSeq, rows, ...(left.length > rows.length ? { more: true } : {}) };
    },
  };
  const view = new View();
  const runs = new RunStore();
  const following = new Following("r", server as unknown as Server, runs, view, () => undefined);
  const become = (status: ServerStatus) => {
    server.status = status;
    bell.fire(status);
  };
  return { view, runs, following, asked, become, facts };
}

test("all of a view is read, page by page", async () => {
  const { view, following, asked } = scene({ page: 7, state: state({ status: "completed" }) });
  await following.catchUp();
  expect(view.seq).toBe(FACTS.length);
  expect(asked.filter((one) => one.command === "loopLs.view").map((one) => one.afterSeq)).toEqual([0, 7, 14]);
  expect([following.reading, following.banner]).toEqual([false, undefined]);
});

test("a run that has ended is whole after one question for its state and one for its view, asked together", async () => {
  const { asked, following } = scene({ state: state({ status: "completed" }) });
  const reading = following.catchUp();
  expect(asked.map((one) => one.command)).toEqual(["loopLs.status", "loopLs.view"]);
  await reading;
  expect(asked).toHaveLength(2);
});

test("a run that goes on is followed, one that has ended is not", async () => {
  const going = scene();
  await going.following.catchUp();
  expect(going.asked.at(-1)?.follow).toBe(true);
  const ended = scene({ state: state({ status: "completed" }) });
  await ended.following.catchUp();
  expect(ended.asked.at(-1)?.follow).toBe(false);
});

test("what is heard while the rest is read is taken once, in order", async () => {
  const { view, runs, following, facts } = scene({ facts: FACTS.slice(0, 10) });
  const reading = following.catchUp();
  for (const one of [notice(8, 12, ...FACTS.slice(8, 12)), notice(13, 14, FACTS[13]!), notice(12, 13, FACTS[12]!)]) runs.view(one);
  await reading;
  expect(view.seq).toBe(14);
  facts.push(...FACTS.slice(10));
});

test("a patch with a number too high makes it ask for what is missing", async () => {
  const { view, runs, following, facts } = scene({ facts: FACTS.slice(0, 10) });
  await following.catchUp();
  facts.push(...FACTS.slice(10, 16));
  runs.view(notice(15, 16, FACTS[15]!));
  await following.catchUp();
  expect(view.seq).toBe(16);
});

test("a patch that is known changes nothing", async () => {
  const { view, runs, following, asked } = scene();
  await following.catchUp();
  const before = asked.length;
  runs.view(notice(3, 4, FACTS[3]!));
  expect([view.seq, asked.length]).toEqual([FACTS.length, before]);
});

test("after a restart of the server it asks from the last number on", async () => {
  const { view, following, asked, become, facts } = scene({ facts: FACTS.slice(0, 10) });
  await following.catchUp();
  become("starting");
  await following.catchUp();
  expect(following.banner?.text).toBe("The language server is starting…");
  facts.push(...FACTS.slice(10));
  become("ready");
  await following.catchUp();
  expect([view.seq, following.banner]).toEqual([FACTS.length, undefined]);
  expect(asked.filter((one) => one.command === "loopLs.view").at(2)?.afterSeq).toBe(10);
});

test.each([
  ["missing", "The language server is not running, so nothing new is shown.", "Restart server"],
  ["failed", "The language server is not running, so nothing new is shown.", "Restart server"],
] as const)("a server that is %s is told with the way out", async (status, text, title) => {
  const { following } = scene({ status });
  await following.catchUp();
  expect([following.banner?.text, following.banner?.action?.title]).toEqual([text, title]);
});

test("an engine that is gone and a run that is not there are told", async () => {
  const gone = scene({ refuse: "engine_not_ready" });
  await gone.following.catchUp();
  expect([gone.following.banner?.text, gone.following.banner?.action?.title]).toEqual(["No.", "Try again"]);
  const unknown = scene({ refuse: "not_found" });
  await unknown.following.catchUp();
  expect(unknown.following.banner?.text).toBe("This run is not (or no longer) in the record.");
});

test("a run that is deleted while it is looked at says so", async () => {
  const { following, runs } = scene();
  await following.catchUp();
  runs.take(state());
  runs.remove("r");
  expect(following.banner?.text).toBe("This run was deleted from the record.");
  runs.take(state()); // imported again
  await following.catchUp();
  expect(following.banner).toBeUndefined();
});

test("the runs of others are none of its business", async () => {
  const { view, runs, following } = scene();
  await following.catchUp();
  runs.take({ runId: "other", status: "failed" });
  runs.happen({ runId: "other", kind: "text", text: "x" });
  expect([following.state?.status, view.live.all()]).toEqual(["running", []]);
});
