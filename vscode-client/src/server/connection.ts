// The language server as the rest of the extension sees it: started, restarted, asked. One start or stop at a
// time, whatever triggers them; a server that ends by itself comes back, a few times, later each time.
import * as vscode from "vscode";
import type { LanguageClient } from "vscode-languageclient/node";
import type { Memory } from "../answers/memory";
import { type Answer, type Argument, settle } from "../answers/settle";
import type { Server, ServerStatus } from "../part";
import type { RunEvent, RunState, ViewNotice } from "../runs/state";
import type { RunStore } from "../runs/store";
import { Backoff } from "./backoff";
import type { ServerProgram } from "./locate";
import { loading } from "./processor";
import { ServerProcess } from "./program";
import { tell, type Told } from "./sentences";
import { TroubleError, type Trouble } from "./trouble";

const START_SECONDS = 30;
/** A server that stays this long has recovered: its next ending is a first one. */
const STAYED = 120_000;

export interface Found {
  find(): Promise<ServerProgram>;
  /** The extension's own server did not start: it is set up anew by the next `find`. */
  discard(): Promise<void>;
  environment(program: ServerProgram): NodeJS.ProcessEnv;
}

export interface People {
  trouble(told: Told): void;
  ready(program: ServerProgram, version: string | undefined): void;
}

interface Running {
  program: ServerProgram;
  process: ServerProcess;
  client: LanguageClient;
}

export class Connection implements Server, vscode.Disposable {
  /** For tests: the processor's milliseconds that the library of the protocol took, once it is there. */
  libraryIn: number | undefined;
  private running: Running | undefined;
  private busy: Promise<void> = Promise.resolve();
  private current: ServerStatus = "stopped";
  private last: Told | undefined;
  private remade = false;
  private timer: NodeJS.Timeout | undefined;
  private readonly backoff = new Backoff();
  private readonly changed = new vscode.EventEmitter<ServerStatus>();
  readonly onDidChangeStatus = this.changed.event;

  constructor(
    private readonly runs: RunStore,
    private readonly log: vscode.LogOutputChannel,
    private readonly trace: vscode.LogOutputChannel,
    private readonly memory: Memory,
    private readonly found: Found,
    private readonly people: People,
  ) {}

  get status(): ServerStatus {
    return this.current;
  }

  /** What keeps the server from running, until a start succeeds. */
  get trouble(): Told | undefined {
    return this.last;
  }

  get program(): (ServerProgram & { pid: number | undefined; version: string | undefined }) | undefined {
    if (!this.running) return undefined;
    const { program, process, client } = this.running;
    return { ...program, pid: process.pid, version: client.initializeResult?.serverInfo?.version };
  }

  /** By a person or a setting: whatever went wrong before is forgotten. */
  restart(): Promise<void> {
    this.backoff.begin();
    this.remade = false;
    return this.inTurn(() => this.stop().then(() => this.start()));
  }

  async stop(): Promise<void> {
    clearTimeout(this.timer);
    const running = this.running;
    this.running = undefined;
    await this.end(running);
    this.become("stopped");
  }

  run(command: string, argument: Argument): Promise<Answer | undefined> {
    return settle((next) => this.ask(command, next), argument, this.memory);
  }

  async ask(command: string, argument: Argument): Promise<Answer | undefined> {
    if (this.current !== "ready") return undefined;
    const asked = this.running?.client.sendRequest<Answer>("workspace/executeCommand", { command, arguments: [argument] });
    return asked?.catch((error: unknown) => {
      this.log.warn(`${command}: ${String(error)}`);
      return undefined;
    });
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.changed.dispose();
  }

  /** One start or stop at a time, whatever became of the one before. */
  private inTurn(work: () => Promise<void>): Promise<void> {
    this.busy = this.busy.catch(() => undefined).then(work);
    return this.busy;
  }

  private become(status: ServerStatus): void {
    if (this.current === status) return;
    this.current = status;
    this.changed.fire(status);
  }

  private async start(): Promise<void> {
    this.become("starting");
    let program: ServerProgram;
    try {
      program = await this.found.find();
    } catch (error) {
      if (!(error instanceof TroubleError)) throw error;
      return this.giveUp("missing", error.trouble);
    }
    const trouble = await this.startProgram(program);
    if (!trouble) return;
    if (program.origin === "own" && trouble.kind === "ended_at_once" && !this.remade) {
      this.log.warn("the environment no longer works; recreating it");
      this.remade = true;
      await this.found.discard();
      return this.start();
    }
    if (this.backoff.times > 0) return this.again();
    this.giveUp("failed", trouble);
  }

  private async startProgram(program: ServerProgram): Promise<Trouble | undefined> {
    this.log.info(`server: ${[program.command, ...program.args].join(" ")} (${program.origin})`);
    const process = new ServerProcess(program, this.found.environment(program));
    process.running.catch(() => undefined); // told below
    const { loaded: room, milliseconds } = await loading(() => import("./language.js")); // large: read while the server starts
    this.log.debug(`the client library was loaded in ${milliseconds.toFixed(1)} ms of CPU time`);
    this.libraryIn ??= milliseconds;
    const client = room.clientFor(process, {
      log: this.log,
      trace: this.trace,
      memory: this.memory,
      onClosed: () => this.closed(running),
    });
    const running: Running = { program, process, client };
    client.onNotification("loopLs/event", (event: RunEvent) => this.runs.happen(event));
    client.onNotification("loopLs/view", (notice: ViewNotice) => this.runs.view(notice));
    client.onNotification("loopLs/run", (state: RunState) => this.runs.take(state));
    client.onNotification("loopLs/show", (wanted: Argument) => void vscode.commands.executeCommand("loopLs.client.openRun", wanted));
    client.onNotification("loopLs/engine", ({ running }: { running: boolean }) => this.runs.engineIs(running));
    this.running = running;
    try {
      await withLimit(client.start(), START_SECONDS);
    } catch (error) {
      this.log.error(`start: ${String(error)}`);
      this.running = undefined;
      const trouble = await this.whyNot(program, process, error);
      await this.end(running);
      return trouble;
    }
    this.last = undefined;
    this.become("ready");
    this.timer = setTimeout(() => this.backoff.begin(), STAYED);
    this.people.ready(program, client.initializeResult?.serverInfo?.version);
    return undefined;
  }

  private async whyNot({ command }: ServerProgram, process: ServerProcess, error: unknown): Promise<Trouble> {
    if (error instanceof LimitError) return { kind: "silent", command, seconds: START_SECONDS };
    const spawned = await process.running.then(
      () => undefined,
      (reason: NodeJS.ErrnoException) => reason.code ?? reason.message,
    );
    if (spawned) return { kind: "not_started", command, because: spawned };
    await process.settled();
    if (process.ended) return { kind: "ended_at_once", command, said: process.said };
    return { kind: "not_started", command, because: error instanceof Error ? error.message : String(error) };
  }

  private async end(running: Running | undefined): Promise<void> {
    if (!running) return;
    await running.client.dispose(2000).catch((error: unknown) => this.log.warn(`stopping: ${String(error)}`));
    await running.process.end();
  }

  /** The connection is gone and nobody asked for it. During a start, the start itself tells. */
  private closed(running: Running): void {
    if (this.running !== running || this.current !== "ready") return;
    clearTimeout(this.timer);
    this.running = undefined;
    void this.inTurn(async () => {
      await this.end(running);
      this.log.warn(`the server exited unexpectedly (${running.process.ending})`);
      this.again();
    });
  }

  private again(): void {
    const wait = this.backoff.next();
    if (wait === undefined) return this.giveUp("failed", { kind: "keeps_ending", times: this.backoff.times });
    this.log.info(`starting it again in ${wait / 1000} s`);
    this.become("starting");
    this.timer = setTimeout(() => void this.inTurn(() => this.start()), wait);
  }

  private giveUp(status: ServerStatus, trouble: Trouble): void {
    this.last = tell(trouble);
    this.log.error(`${this.last.sentence}${this.last.said ? `\n${this.last.said}` : ""}`);
    this.become(status);
    this.people.trouble(this.last);
  }
}

class LimitError extends Error {}

function withLimit<T>(work: Promise<T>, seconds: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new LimitError(`no answer within ${seconds} s`)), seconds * 1000);
  });
  return Promise.race([work, limit]).finally(() => clearTimeout(timer));
}
