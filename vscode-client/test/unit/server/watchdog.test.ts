import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Answer } from "../../../src/answers/settle";
import { Connection } from "../../../src/server/connection";
import { TroubleError } from "../../../src/server/trouble";

/** A server that starts as told and ends when the test says so. */
const host = vi.hoisted(() => ({ starts: [] as (undefined | Error)[], started: 0, close: () => {}, refuse: undefined as undefined | Error }));

vi.mock("vscode-languageclient/node", () => ({
  RevealOutputChannelOn: { Never: 4 },
  CloseAction: { DoNotRestart: 1 },
  ErrorAction: { Continue: 1 },
  LanguageClient: class {
    initializeResult = { serverInfo: { version: "0.1.0" } };
    constructor(_id: string, _name: string, _server: unknown, options: { errorHandler: { closed(): unknown } }) {
      host.close = () => void options.errorHandler.closed();
    }
    onNotification() {}
    async start() {
      host.started += 1;
      const error = host.starts.shift();
      if (error) throw error;
    }
    async sendRequest() {
      if (host.refuse) throw host.refuse;
      return { ok: true };
    }
    async dispose() {}
  },
}));

vi.mock("../../../src/server/program.js", () => ({
  ServerProcess: class {
    running = Promise.resolve();
    ended = true;
    said = "Traceback\nboom";
    ending = "SIGKILL";
    pid = 7;
    async end() {}
    async settled() {}
  },
}));

const log = { info: vi.fn(), debug: vi.fn(), warn: vi.fn(), error: vi.fn() };
const people = { trouble: vi.fn(), ready: vi.fn() };
const found = {
  find: vi.fn(async () => ({ command: "/x/loop-ls", args: ["serve"], origin: "path" as "path" | "own" })),
  discard: vi.fn(async () => undefined),
  environment: () => ({}),
};
let server: Connection;
beforeEach(async () => {
  vi.useFakeTimers();
  vi.clearAllMocks();
  Object.assign(host, { starts: [], started: 0, refuse: undefined });
  server = new Connection({ happen: vi.fn(), take: vi.fn() } as never, log as never, {} as never, {} as never, found, people);
});
afterEach(() => {
  server.dispose();
  vi.useRealTimers();
});

const soon = () => vi.advanceTimersByTimeAsync(0);
async function ends(): Promise<void> {
  host.close();
  await soon();
}

test("a server that ends comes back after 1, 4 and 16 seconds, then people are told once", async () => {
  await server.restart();
  for (const [index, wait] of [1000, 4000, 16_000].entries()) {
    await ends();
    expect(server.status).toBe("starting");
    await vi.advanceTimersByTimeAsync(wait - 1);
    expect(host.started).toBe(index + 1);
    await vi.advanceTimersByTimeAsync(1);
    expect(host.started).toBe(index + 2);
    expect(server.status).toBe("ready");
  }
  expect(people.trouble).not.toHaveBeenCalled();
  await ends();
  await vi.advanceTimersByTimeAsync(600_000);
  expect(host.started).toBe(4);
  expect(server.status).toBe("failed");
  expect(people.trouble).toHaveBeenCalledOnce();
  expect(people.trouble.mock.calls[0]?.[0]).toMatchObject({ code: "keeps_ending", ways: ["retry", "log", "doctor"] });
});

test("a restart by a person begins the count anew", async () => {
  await server.restart();
  for (const wait of [1000, 4000, 16_000]) {
    await ends();
    await vi.advanceTimersByTimeAsync(wait);
  }
  await ends();
  expect(server.status).toBe("failed");
  await server.restart();
  expect(server.status).toBe("ready");
  expect(server.trouble).toBeUndefined();
  await ends();
  await vi.advanceTimersByTimeAsync(1000);
  expect(server.status).toBe("ready");
});

test("a server that stayed for two minutes has recovered", async () => {
  await server.restart();
  for (let day = 0; day < 6; day++) {
    await vi.advanceTimersByTimeAsync(120_000);
    await ends();
    await vi.advanceTimersByTimeAsync(1000);
    expect(server.status).toBe("ready");
  }
  expect(people.trouble).not.toHaveBeenCalled();
});

test("a start that fails again after an ending waits longer instead of telling", async () => {
  await server.restart();
  host.starts = [new Error("closed")];
  await ends();
  await vi.advanceTimersByTimeAsync(1000);
  expect(people.trouble).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(4000);
  expect(server.status).toBe("ready");
});

test("a first start that fails is told at once, with the server's last words", async () => {
  host.starts = [new Error("closed")];
  await server.restart();
  expect(server.status).toBe("failed");
  expect(people.trouble.mock.calls[0]?.[0]).toMatchObject({ code: "ended_at_once", sentence: "/x/loop-ls ended before it answered: boom." });
  await vi.advanceTimersByTimeAsync(60_000);
  expect(host.started).toBe(1);
});

test("no server: told with its trouble, and asked nothing", async () => {
  found.find.mockRejectedValueOnce(new TroubleError({ kind: "wrong_command", command: "/nope", because: "missing" }));
  await server.restart();
  expect(server.status).toBe("missing");
  expect(server.trouble?.sentence).toBe("/nope (setting loopLs.server.command) does not exist.");
  expect(await server.ask("loopLs.runs", {})).toBeUndefined();
});

test("the own environment is made anew once when its server does not start", async () => {
  const own = { command: "/own/bin/python", args: [], origin: "own" as const };
  found.find.mockResolvedValueOnce(own).mockResolvedValueOnce(own);
  host.starts = [new Error("closed"), new Error("closed")];
  await server.restart();
  expect(found.discard).toHaveBeenCalledOnce();
  expect(host.started).toBe(2);
  expect(people.trouble).toHaveBeenCalledOnce();
});

test("a stop that was asked for is no ending", async () => {
  await server.restart();
  await server.stop();
  host.close();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(host.started).toBe(1);
  expect(server.status).toBe("stopped");
});

test("a question that the server took with it is answered with nothing, not thrown", async () => {
  await server.restart();
  expect(await server.ask("loopLs.runs", {})).toEqual({ ok: true } satisfies Answer);
  host.refuse = new Error("Pending response rejected since connection got disposed");
  expect(await server.ask("loopLs.runs", {})).toBeUndefined();
});

test("what runs is known: program, process and version", async () => {
  await server.restart();
  expect(server.program).toMatchObject({ command: "/x/loop-ls", pid: 7, version: "0.1.0" });
  expect(people.ready).toHaveBeenCalledWith(expect.objectContaining({ origin: "path" }), "0.1.0");
});
