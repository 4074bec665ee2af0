// One panel of one run: the page on one side, the facts on the other. Changes are gathered for a moment and sent
// as rows that changed; a page that was hidden or reloaded says `ready` and gets everything anew.
import * as vscode from "vscode";
import { pageOf } from "../page";
import type { Surroundings } from "../part";
import { act } from "./actions";
import { detailOf } from "./details";
import { Following } from "./following";
import { hasEnded, type RunState } from "../runs/state";
import { type Estimate, estimateOf } from "./estimate";
import { headOf } from "./head";
import type { All, Tab, ToHost, ToPage } from "./shape";
import { View } from "./view";

const GATHER = 40;

export class RunPanel implements vscode.Disposable {
  readonly view = new View();
  private readonly following: Following;
  private readonly parts: vscode.Disposable[] = [];
  private timer: NodeJS.Timeout | undefined;
  private ready = false;
  private select: string | undefined;
  private tab: Tab | undefined;
  private seenGraph: unknown;
  private readonly opened = Date.now();
  private estimate: Estimate | undefined;
  private estimated = false;
  /** Somebody looks at an outline: the first whole answer is sent at once, what comes later is gathered. */
  private awaited = true;
  /** Somebody has looked into it. */
  used = false;

  constructor(
    readonly runId: string,
    readonly panel: vscode.WebviewPanel,
    private readonly around: Surroundings,
    first: { iteration?: number; tab?: Tab },
    closed: () => void,
  ) {
    this.following = new Following(runId, around.server, around.runs, this.view, () => this.changed());
    this.reveal(first.iteration, first.tab);
    const { webview } = panel;
    this.parts.push(
      this.following,
      webview.onDidReceiveMessage((message: ToHost) => void this.hear(message)),
      panel.onDidChangeViewState(() => {
        this.used ||= panel.active;
      }),
      panel.onDidDispose(() => {
        this.dispose();
        closed();
      }),
    );
    webview.options = { enableScripts: true, localResourceRoots: [vscode.Uri.joinPath(around.context.extensionUri, "dist")] };
    webview.html = pageOf(webview, around.context.extensionUri, "panel", "Run");
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
    for (const part of this.parts.splice(0)) part.dispose();
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
    if (head) this.panel.title = `${head.name} ${head.iteration ? `${head.iteration}${head.max ? `/${head.max}` : ""}` : ""}`.trim();
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
    void this.panel.webview.postMessage(change);
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
    void this.panel.webview.postMessage(all);
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

  private async hear(message: ToHost): Promise<void> {
    switch (message.type) {
      case "ready":
        this.ready = true;
        this.sendAll();
        return;
      case "detail": {
        const row = this.view.rows.get(message.row);
        if (!row) return;
        const detail = await detailOf(this.around.server, this.runId, row, message.tab);
        void this.panel.webview.postMessage({ type: "detail", detail } satisfies ToPage);
        return;
      }
      case "act":
        await act(
          {
            runId: this.runId,
            state: this.following.state,
            view: this.view,
            server: this.around.server,
            again: () => void this.following.catchUp(),
          },
          message.act,
        ).catch((error: unknown) => this.around.log.error(`panel: ${message.act.verb}: ${String(error)}`));
        return;
      case "drawn":
        this.around.log.debug(`panel of ${this.runId}: ${message.rows} rows drawn after ${Date.now() - this.opened} ms`);
        return;
    }
  }
}
