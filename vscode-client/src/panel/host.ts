// One run on its way to a page that shows it: the facts on one side, messages on the other. Changes are gathered for a
// moment and sent as rows that changed; a page that was hidden or reloaded says `ready` and gets everything anew. Knows
// neither editor nor browser.
import type { Server } from "../part";
import { hasEnded, type RunState } from "../runs/state";
import type { RunStore } from "../runs/store";
import { detailOf } from "./details";
import { type Estimate, estimateOf } from "./estimate";
import { Following } from "./following";
import { headOf } from "./head";
import type { Act, All, Head, Tab, ToHost, ToPage } from "./shape";
import { View } from "./view";

const GATHER = 40;

/** Where the page is, and what becomes of its wishes. */
export interface Around {
  readonly server: Server;
  readonly runs: RunStore;
  post(message: ToPage): void;
  act(wanted: Act): void;
  /** After each change, shown or not. */
  headed(head: Head): void;
  drawn(rows: number): void;
}

export class RunHost {
  readonly view = new View();
  readonly following: Following;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private ready = false;
  private select: string | undefined;
  private tab: Tab | undefined;
  private seenGraph: unknown;
  private estimate: Estimate | undefined;
  private estimated = false;
  /** Somebody looks at an outline: the first whole answer is sent at once, what comes later is gathered. */
  private awaited = true;

  constructor(
    readonly runId: string,
    private readonly around: Around,
  ) {
    this.following = new Following(runId, around.server, around.runs, this.view, () => this.changed());
  }

  /** Asks for everything. */
  begin(): void {
    void this.following.catchUp();
  }

  /** Shows the iteration with this number, once it is there, and this tab. */
  reveal(iteration: number | undefined, tab: Tab | undefined): void {
    if (iteration === undefined && tab === undefined) return;
    if (iteration !== undefined) this.select = `number:${iteration}`;
    this.tab = tab;
    this.changed();
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.following.dispose();
  }

  /** What the run may cost at most, asked for once, while it goes on: of one that has ended the file may differ. */
  private async estimates(state: RunState): Promise<void> {
    if (this.estimated || !state.uri || hasEnded(state)) return;
    this.estimated = true;
    this.estimate = await estimateOf(this.around.server, state);
    if (this.estimate) this.changed();
  }

  private changed(): void {
    if (this.awaited && !this.following.reading) {
      this.awaited = false;
      clearTimeout(this.timer);
      this.timer = undefined;
      return this.send();
    }
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.send();
    }, GATHER);
  }

  private send(): void {
    const { state } = this.following;
    if (state) void this.estimates(state);
    const head = state ? headOf(state, this.estimate) : undefined;
    if (head) this.around.headed(head);
    if (!this.ready) return;
    const { view, following } = this;
    const rows = view.ordered(view.changed);
    const change: ToPage = {
      type: "change",
      head,
      banner: following.banner ?? null,
      reading: following.reading,
      ...(rows.length ? { rows } : {}),
      ...(view.live.changed ? { live: view.live.all() } : {}),
      ...(view.roundsChanged ? { rounds: view.rounds() } : {}),
      ...(view.nodesChanged ? { nodes: view.nodes } : {}),
      ...(this.seenGraph !== following.graph ? { graph: following.graph } : {}),
      ...(this.selected() ? { select: this.selected() } : {}),
      ...(this.tab ? { tab: this.tab } : {}),
    };
    this.sent();
    this.around.post(change);
  }

  private sendAll(): void {
    const { view, following } = this;
    const all: ToPage & All = {
      type: "all",
      head: following.state ? headOf(following.state, this.estimate) : undefined,
      rows: view.ordered(),
      rounds: view.rounds(),
      live: view.live.all(),
      graph: following.graph,
      nodes: view.nodes,
      banner: following.banner,
      reading: following.reading,
      select: this.selected(),
      tab: this.tab,
    };
    this.sent();
    this.around.post(all);
  }

  private sent(): void {
    const { view } = this;
    view.changed.clear();
    view.roundsChanged = view.nodesChanged = view.live.changed = false;
    this.seenGraph = this.following.graph;
    if (this.selected()) this.select = undefined;
    this.tab = undefined;
  }

  /** The row that somebody asked for, as soon as there is one with that number. */
  private selected(): string | undefined {
    if (!this.select) return undefined;
    const number = Number(this.select.slice("number:".length));
    return this.view.ordered().filter((row) => row.kind === "iteration" && row.number === number).at(-1)?.id;
  }

  /** A message of the page. */
  async hear(message: ToHost): Promise<void> {
    switch (message.type) {
      case "ready":
        this.ready = true;
        this.sendAll();
        return;
      case "detail": {
        const row = this.view.rows.get(message.row);
        if (!row) return;
        const detail = await detailOf(this.around.server, this.runId, row, message.tab);
        this.around.post({ type: "detail", detail });
        return;
      }
      case "act":
        this.around.act(message.act);
        return;
      case "drawn":
        this.around.drawn(message.rows);
        return;
    }
  }
}
