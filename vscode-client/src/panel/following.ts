// Follows one run: its state and view are asked for once, then what is new is heard. Numbers decide what is new, so that
// nothing is lost or taken twice, whatever connection, server or engine do meanwhile. Never polls.
import type { Answer } from "../answers/settle";
import type { Server } from "../part";
import { hasEnded, type RunState, type ViewNotice, type ViewPatch } from "../runs/state";
import type { RunStore } from "../runs/store";
import type { Banner, GraphNode } from "./shape";
import type { View } from "./view";

/** Rows of one answer. */
export const PAGE = 500;

const DELETED = "This run was deleted from the record.";

interface Disposable {
  dispose(): unknown;
}

export class Following implements Disposable {
  state: RunState | undefined;
  graph: GraphNode[] = [];
  banner: Banner | undefined;
  reading = true;
  private busy: Promise<void> | undefined;
  private again = false;
  private gone = false;
  private early: ViewNotice[] = [];
  private readonly parts: Disposable[];

  constructor(
    private readonly runId: string,
    private readonly server: Server,
    private readonly runs: RunStore,
    private readonly view: View,
    private readonly changed: () => void,
  ) {
    this.state = runs.get(runId);
    this.parts = [
      runs.onDidView((notice) => this.hear(notice)),
      runs.onDidHappen((event) => {
        if (event.runId !== runId || event.seq !== undefined) return;
        view.live.hear(event, view.rowOf(String(event.place ?? ""))?.id);
        this.changed();
      }),
      runs.onDidChange(({ state }) => this.stateIs(state)),
      runs.onDidRemove((removed) => {
        if (removed === runId) this.deleted();
      }),
      server.onDidChangeStatus(() => void this.catchUp()),
    ];
  }

  dispose(): void {
    this.gone = true;
    for (const part of this.parts) part.dispose();
  }

  /** Asks for everything after what is known; one such walk at a time, and once more where that was asked for meanwhile. */
  catchUp(): Promise<void> {
    if (this.busy) {
      this.again = true;
      return this.busy;
    }
    this.busy = this.walk().finally(() => {
      this.busy = undefined;
      if (this.again && !this.gone) {
        this.again = false;
        void this.catchUp();
      }
    });
    return this.busy;
  }

  private hear(notice: ViewNotice): void {
    if (notice.runId !== this.runId || this.gone) return;
    if (this.busy) {
      this.early.push(notice);
    } else if (!this.view.take(notice, notice.after)) {
      void this.catchUp();
    }
    this.changed();
  }

  private stateIs(state: RunState): void {
    if (state.runId !== this.runId || this.gone) return;
    this.state = state;
    if (this.banner?.text === DELETED) void this.catchUp(); // it was taken in again
    if (hasEnded(state) && (state.lastSeq ?? 0) > this.view.seq) void this.catchUp();
    this.changed();
  }

  private async walk(): Promise<void> {
    const refused = noServer(this.server) ?? (await this.ask());
    if (this.gone) return;
    this.banner = refused;
    this.reading = false;
    this.changed();
  }

  private async ask(): Promise<Banner | undefined> {
    // Both at once: most panels show a run that has ended, and are whole with the first page.
    const [told, first] = await Promise.all([
      this.answer("loopLs.status", { runId: this.runId, graph: this.graph.length === 0 }),
      this.page(false),
    ]);
    if (!told.ok) return refusal(told);
    const state = told.state as RunState;
    this.state = state;
    if (Array.isArray(told.graph) && told.graph.length > 0) this.graph = told.graph as GraphNode[];
    this.changed();
    const follow = !hasEnded(state);
    for (let page = first, heard = !follow; ; page = await this.page(follow), heard = true) {
      if (!page.ok) return refusal(page);
      const patch = page as unknown as ViewPatch;
      this.view.take(patch);
      if (patch.rows.length > 0) this.changed();
      if (this.gone || (heard && !patch.more)) break;
    }
    const early = this.early.splice(0).sort((left, right) => left.seq - right.seq);
    for (const notice of early) if (!this.view.take(notice, notice.after)) this.again = true;
    if (!this.gone) this.runs.take(state); // at the end: a state that is newer than the facts asks for them
    return undefined;
  }

  /** What is new after what is known; with `follow`, the server tells of all that comes later. */
  private page(follow: boolean): Promise<Answer> {
    return this.answer("loopLs.view", { runId: this.runId, afterSeq: this.view.seq, limit: PAGE, follow });
  }

  private async answer(command: string, argument: Record<string, unknown>): Promise<Answer> {
    const lost: Answer = { ok: false, code: "engine_not_ready", message: "The server did not respond." };
    return (await this.server.ask(command, argument).catch(() => undefined)) ?? lost;
  }

  private deleted(): void {
    this.banner = { tone: "bad", text: DELETED };
    this.changed();
  }
}

function noServer(server: Server): Banner | undefined {
  switch (server.status) {
    case "ready":
      return undefined;
    case "stopped":
    case "starting":
      return { tone: "wait", text: "The language server is starting…" };
    case "missing":
    case "failed":
      return {
        tone: "bad",
        text: "The language server is not running, so nothing new is shown.",
        action: { title: "Restart server", act: { verb: "restartServer" } },
      };
  }
}

function refusal(answer: Answer): Banner {
  if (answer.code === "not_found") return { tone: "bad", text: "This run is not (or no longer) in the record." };
  const said = [answer.message, answer.hint].filter(Boolean).join(" ");
  return { tone: "bad", text: said || "The engine is not responding.", action: { title: "Try again", act: { verb: "again" } } };
}
