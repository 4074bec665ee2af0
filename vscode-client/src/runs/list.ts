// Fills the store with the runs of the folder: asked for once, when somebody looks, and again only when
// another server or engine may know more. Everything in between comes by notification; nothing polls.
import { Emitter, type Subscription } from "./emitter";
import type { Server } from "../part";
import { hasEnded, type RunState } from "./state";
import type { RunStore } from "./store";

const FIRST = 100;
/** What the engine gives at most. */
const MOST = 1000;

export class RunList {
  private wanted = false;
  private limit = FIRST;
  private cut = false;
  private asking: Promise<void> | undefined;
  private readonly changed = new Emitter<void>();
  private readonly heard: Subscription[];
  /** A list was read: there may be more behind it. */
  readonly onDidRead = this.changed.event;

  constructor(
    private readonly server: Server,
    private readonly runs: RunStore,
  ) {
    this.heard = [
      server.onDidChangeStatus((status) => {
        if (status === "ready" && this.wanted) void this.read();
      }),
      runs.onDidChangeEngine((there) => {
        if (there && this.wanted) void this.read();
      }),
    ];
  }

  /** Whether the record holds runs that are not in the store. */
  get more(): boolean {
    return this.cut && this.limit < MOST;
  }

  /** Somebody looks: read the list if that did not happen yet. */
  want(): void {
    if (this.wanted) return;
    this.wanted = true;
    if (this.server.status === "ready") void this.read();
  }

  async readMore(): Promise<void> {
    await this.readUpTo(Math.min(MOST, this.limit * 5));
  }

  /** All that the engine gives: for those who search. */
  async readAll(): Promise<void> {
    await this.asking;
    if (this.more) await this.readUpTo(MOST);
  }

  /** The runs of one file, the newest first: for a file that was opened. */
  async readFile(uri: string): Promise<void> {
    const answer = await this.server.ask("loopLs.runs", { uri, limit: 1 }).catch(() => undefined);
    for (const state of statesOf(answer)) this.runs.take(state);
  }

  dispose(): void {
    for (const one of this.heard) one.dispose();
    this.changed.dispose();
  }

  /** What is under way asks for fewer: it ends first, and is not taken for the answer. */
  private async readUpTo(limit: number): Promise<void> {
    await this.asking;
    this.limit = Math.max(this.limit, limit);
    await this.read();
  }

  private read(): Promise<void> {
    this.asking ??= this.ask().finally(() => (this.asking = undefined));
    return this.asking;
  }

  private async ask(): Promise<void> {
    const before = new Set(this.runs.all().map((state) => state.runId));
    const ask = (argument: Record<string, unknown>) => this.server.ask("loopLs.runs", argument).catch(() => undefined);
    const limit = this.limit;
    const [newest, active] = await Promise.all([ask({ limit }), ask({ status: "active", limit: MOST })]);
    if (!newest?.ok) return;
    const listed = statesOf(newest);
    this.cut = listed.length >= limit;
    for (const state of [...listed, ...statesOf(active)]) this.runs.take(state);
    if (!this.cut) this.forget(before, new Set(listed.map((state) => state.runId)));
    this.changed.fire();
  }

  /** Of a whole list: what had ended and is not in it was deleted while nobody here listened. */
  private forget(before: ReadonlySet<string>, listed: ReadonlySet<string>): void {
    for (const runId of before) {
      const state = this.runs.get(runId);
      if (state && hasEnded(state) && !listed.has(runId)) this.runs.remove(runId);
    }
  }
}

const statesOf = (answer: { ok: boolean; runs?: unknown } | undefined): RunState[] =>
  answer?.ok && Array.isArray(answer.runs) ? (answer.runs as RunState[]) : [];
