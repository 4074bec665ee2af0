// The tree of runs as VS Code asks for it. Draws what the store holds; asks nobody, keeps no copy.
// Changes are gathered for a moment, so that a run with fifty facts a second redraws its line a few times.
import * as vscode from "vscode";
import type { RunList } from "../../runs/list";
import { hasEnded, type RunState } from "../../runs/state";
import type { Change, RunStore } from "../../runs/store";
import { money } from "../../runs/amounts";
import { lineOfRun, nameOf, progressOf } from "../../runs/words";
import { iconOf } from "../look";
import { contextOf, describe, fileOf, groupsOf, type Grouping, matches, type Node, type RunNode } from "./nodes";

const PAGE = 50;
const GATHER = 100;

export class RunsTree implements vscode.TreeDataProvider<Node>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<Node | undefined>();
  readonly onDidChangeTreeData = this.changed.event;
  private readonly heard: vscode.Disposable[];
  private readonly drawn = new Map<string, RunNode>();
  private readonly stale = new Set<string>();
  private all = false;
  private timer: NodeJS.Timeout | undefined;
  private shown = PAGE;
  grouping: Grouping = "status";
  filter = "";

  constructor(
    private readonly runs: RunStore,
    private readonly list: RunList,
  ) {
    this.heard = [
      runs.onDidChange((change) => this.note(change)),
      runs.onDidRemove(() => this.redraw()),
      runs.onDidChangeEngine(() => this.redraw()),
      list.onDidRead(() => this.redraw()),
    ];
  }

  getTreeItem(node: Node): vscode.TreeItem {
    switch (node.kind) {
      case "group": {
        const item = new vscode.TreeItem(node.label, vscode.TreeItemCollapsibleState.Expanded);
        item.id = `${this.grouping}/${node.id}`;
        item.iconPath = new vscode.ThemeIcon(node.icon);
        item.description = `${node.runs.length + node.hidden}${node.hidden > 0 && this.list.more ? "+" : ""}`;
        return item;
      }
      case "run":
        return this.runItem(node);
      case "more": {
        const item = new vscode.TreeItem(node.label);
        item.iconPath = new vscode.ThemeIcon("ellipsis");
        item.command = { command: "loopLs.client.showMoreRuns", title: node.label };
        return item;
      }
      case "gone": {
        const item = new vscode.TreeItem("The engine is not running");
        item.description = "Restart engine";
        item.tooltip = "Unfinished runs wait until it is back; nothing is lost.";
        item.iconPath = new vscode.ThemeIcon("debug-disconnect", new vscode.ThemeColor("charts.yellow"));
        item.contextValue = "gone";
        item.command = { command: "loopLs.client.restartEngine", title: "Restart engine" };
        return item;
      }
    }
  }

  getChildren(node?: Node): Node[] {
    if (node) return node.kind === "group" ? node.runs : [];
    const found = this.filter ? this.runs.all().filter((state) => matches(state, this.filter)) : this.runs.all();
    const groups = groupsOf(found, this.grouping, this.shown);
    this.drawn.clear();
    for (const run of groups.flatMap((group) => group.runs)) this.drawn.set(run.runId, run);
    const hidden = groups.reduce((sum, group) => sum + group.hidden, 0);
    const more = hidden > 0 || this.list.more;
    return [
      ...(this.runs.engineGone ? [{ kind: "gone" } as const] : []),
      ...groups.filter((group) => group.runs.length > 0),
      ...(more ? [{ kind: "more", label: hidden > 0 && !this.list.more ? `Show more (${hidden})` : "Show more" } as const] : []),
    ];
  }

  /** The line of a run, if it is drawn; for revealing it. */
  nodeOf(runId: string): RunNode | undefined {
    return this.drawn.get(runId);
  }

  getParent(): undefined {
    return undefined;
  }

  async showMore(): Promise<void> {
    this.shown += this.shown;
    if (this.runs.all().filter(hasEnded).length < this.shown && this.list.more) await this.list.readMore();
    this.redraw();
  }

  /** Everything anew: groups, times, filter. */
  redraw(): void {
    this.all = true;
    this.soon();
  }

  dispose(): void {
    clearTimeout(this.timer);
    for (const one of this.heard) one.dispose();
    this.changed.dispose();
  }

  private note({ state, before }: Change): void {
    const moved = !before || contextOf(before) !== contextOf(state) || !this.drawn.has(state.runId);
    if (moved || this.filter) this.all = true;
    this.stale.add(state.runId);
    this.soon();
  }

  private soon(): void {
    this.timer ??= setTimeout(() => this.tell(), GATHER);
  }

  private tell(): void {
    this.timer = undefined;
    const nodes = [...this.stale].map((runId) => this.drawn.get(runId));
    const all = this.all || nodes.length > PAGE;
    this.stale.clear();
    this.all = false;
    if (all) this.changed.fire(undefined);
    else for (const node of nodes) if (node) this.changed.fire(node);
  }

  private runItem(node: RunNode): vscode.TreeItem {
    const state = this.runs.get(node.runId);
    const item = new vscode.TreeItem(state ? nameOf(state) : node.runId);
    item.id = node.runId;
    if (!state) return item;
    item.description = describe(state, Date.now());
    item.iconPath = iconOf(state);
    item.contextValue = contextOf(state);
    item.tooltip = tooltipOf(state);
    item.accessibilityInformation = { label: `${nameOf(state)}, ${lineOfRun(state)}` };
    item.command = { command: "loopLs.client.openRun", title: "Open Run", arguments: [{ runId: node.runId }] };
    return item;
  }
}

function tooltipOf(state: RunState): string {
  const spent = [money(state.costUsd), progressOf(state) && `iteration ${progressOf(state)}`].filter(Boolean).join(" · ");
  const started = state.startedAt ? `started ${new Date(state.startedAt).toLocaleString()}` : "";
  return [`${nameOf(state)} in ${fileOf(state)}`, lineOfRun(state), spent, started, `run ${state.runId}`].filter(Boolean).join("\n");
}
