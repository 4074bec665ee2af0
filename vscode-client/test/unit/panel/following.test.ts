// Following a run: what was before is asked for, what comes is heard, nothing is lost and nothing taken twice.
import { expect, test, vi } from "vitest";
import { Book } from "../../../src/panel/book";
import { Following } from "../../../src/panel/following";
import type { Server, ServerStatus } from "../../../src/part";
import type { RunEvent, RunState } from "../../../src/runs/state";
import { RunStore } from "../../../src/runs/store";
import { begun, iteration, numbered } from "./facts";

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

const FACTS = numbered([...begun, ...iteration(1, "no"), ...iteration(2, "yes")]);
const state = (more: Partial<RunState> = {}): RunState => ({ runId: "r", status: "running", lastSeq: FACTS.length, ...more });

interface Scene {
  book: Book;
  runs: RunStore;
  following: Following;
  asked: Record<string, unknown>[];
  become(status: ServerStatus): void;
  facts: RunEvent[];
}

function scene(options: { status?: ServerStatus; facts?: RunEvent[]; page?: number; state?: RunState; refuse?: string } = {}): Scene {
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
      const after = argument.afterSeq as number;
      return { ok: true, events: facts.filter((fact) => (fact.seq ?? 0) > after).slice(0, options.page ?? 1000) };
    },
  };
  const book = new Book();
  const runs = new RunStore();
  const following = new Following("r", server as unknown as Server, runs, book, () => undefined);
  const become = (status: ServerStatus) => {
    server.status = status;
    bell.fire(status);
  };
  return { book, runs, following, asked, become, facts };
}

test("all facts are read, page by page", async () => {
  const { book, following, asked } = scene({ page: 7, state: state({ status: "completed" }) });
  await following.catchUp();
  expect(book.seq).toBe(FACTS.length);
  expect(asked.filter((one) => one.command === "loopLs.events").map((one) => one.afterSeq)).toEqual([0, 7, 14]);
  expect([following.reading, following.banner]).toEqual([false, undefined]);
});

test("a run that has ended is whole after one question for its state and one for its facts, asked together", async () => {
  const { asked, following } = scene({ state: state({ status: "completed" }) });
  const reading = following.catchUp();
  expect(asked.map((one) => one.command)).toEqual(["loopLs.status", "loopLs.events"]);
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

test("facts that are heard while others are read are taken once, in order", async () => {
  const { book, runs, following, facts } = scene({ facts: FACTS.slice(0, 10) });
  const reading = following.catchUp();
  for (const fact of [...FACTS.slice(8, 12), FACTS[13]!, FACTS[12]!]) runs.happen(fact);
  await reading;
  expect(book.seq).toBe(14);
  facts.push(...FACTS.slice(10));
});

test("a fact with a number too high makes it ask for what is missing", async () => {
  const { book, runs, following, facts } = scene({ facts: FACTS.slice(0, 10) });
  await following.catchUp();
  facts.push(...FACTS.slice(10, 16));
  runs.happen(FACTS[15]!);
  await following.catchUp();
  expect(book.seq).toBe(16);
});

test("a fact that is known changes nothing", async () => {
  const { book, runs, following, asked } = scene();
  await following.catchUp();
  const before = asked.length;
  runs.happen(FACTS[3]!);
  expect([book.seq, asked.length]).toEqual([FACTS.length, before]);
});

test("after a restart of the server it asks from the last number on", async () => {
  const { book, following, asked, become, facts } = scene({ facts: FACTS.slice(0, 10) });
  await following.catchUp();
  become("starting");
  await following.catchUp();
  expect(following.banner?.text).toBe("The language server is starting…");
  facts.push(...FACTS.slice(10));
  become("ready");
  await following.catchUp();
  expect([book.seq, following.banner]).toEqual([FACTS.length, undefined]);
  expect(asked.filter((one) => one.command === "loopLs.events").at(2)?.afterSeq).toBe(10);
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
  expect(unknown.following.banner?.text).toBe("This run is not in the record (any more).");
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
  const { book, runs, following } = scene();
  await following.catchUp();
  runs.take({ runId: "other", status: "failed" });
  runs.happen({ runId: "other", kind: "text", text: "x" });
  expect([following.state?.status, book.live.all()]).toEqual(["running", []]);
});
