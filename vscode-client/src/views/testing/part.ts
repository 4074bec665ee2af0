// The Testing view of loops: what is listed (`items`), how one run is shown (`mirror`), what real runs may cost
// (`asking`), and here the two profiles that start runs, the stop button, and runs that were started elsewhere.
import * as vscode from "vscode";
import type { Part, Server } from "../../part";
import { hasEnded, type RunState } from "../../runs/state";
import type { RunStore } from "../../runs/store";
import { nameOf } from "../../runs/words";
import { isLoopFile } from "../../server/ours";
import { say } from "../control";
import { mayRun, wanted } from "./asking";
import { Items, type Target } from "./items";
import { Marks } from "./marks";
import { Mirror } from "./mirror";

/** Typing and the server's own look at the disk come in bursts. */
const GATHER = 700;

export const testingPart: Part = ({ server, runs }) => {
  const controller = vscode.tests.createTestController("loopLs", "Loops");
  const marks = new Marks();
  const items = new Items(controller, server, marks);
  const testing = new Testing(controller, items, server, runs);
  let timer: NodeJS.Timeout | undefined;
  const soon = () => {
    clearTimeout(timer);
    timer = setTimeout(() => void items.refresh(), GATHER);
  };
  const edited = (document: vscode.TextDocument) => {
    if (isLoopFile(document)) soon();
  };
  controller.resolveHandler = async (item) => {
    if (!item) await items.refresh();
  };
  controller.refreshHandler = () => items.refresh();
  const profile = (label: string, mock: boolean) =>
    controller.createRunProfile(label, vscode.TestRunProfileKind.Run, (request, token) => testing.start(request, token, mock), mock);
  profile("Mock run (no model calls)", true); // the default: "Run All Tests" costs nothing
  profile("Run with models", false);
  const files = vscode.workspace.createFileSystemWatcher("**/*.{yaml,yml,json}");
  if (server.status === "ready") soon();
  return [
    controller,
    marks,
    vscode.window.registerFileDecorationProvider(marks),
    files,
    { dispose: () => clearTimeout(timer) },
    files.onDidCreate(soon),
    files.onDidDelete(soon),
    files.onDidChange(soon),
    vscode.workspace.onDidOpenTextDocument(edited),
    vscode.workspace.onDidChangeTextDocument(({ document }) => edited(document)),
    server.onDidChangeStatus((status) => {
      if (status === "ready") soon();
    }),
    runs.onDidView((notice) => testing.mirrors.get(notice.runId)?.take(notice.rows)),
    runs.onDidChange(({ state, before }) => testing.changed(state, before)),
    runs.onDidRemove((runId) => testing.leave(runId)),
  ];
};

class Testing {
  readonly mirrors = new Map<string, Mirror>();
  private readonly ends = new Map<string, () => void>();
  /** Runs that this view is about to start: they are shown in its own test run. */
  private starting = 0;

  constructor(
    private readonly controller: vscode.TestController,
    private readonly items: Items,
    private readonly server: Server,
    private readonly runs: RunStore,
  ) {}

  /** One after the other: each may ask for its input. Ends when all of them have ended. */
  async start(request: vscode.TestRunRequest, token: vscode.CancellationToken, mock: boolean): Promise<void> {
    const listed = request.include ?? [...this.controller.items].map(([, item]) => item);
    const meant = listed.filter((item) => !request.exclude?.includes(item));
    const paid = meant.flatMap((item) => this.items.targetOf(item) ?? []).filter((target) => !mock || this.isReal(target));
    if (paid.length && !(await mayRun(this.server, paid))) return;
    const waiting: Promise<void>[] = [];
    for (const item of meant) {
      if (token.isCancellationRequested) continue;
      const run = this.controller.createTestRun(request, item.label);
      run.enqueued(item);
      const runId = await this.begin(item, mock);
      if (runId === undefined) {
        run.skipped(item);
        run.end();
        continue;
      }
      token.onCancellationRequested(() => void say(this.server, "stop", [runId]));
      run.token.onCancellationRequested(() => void say(this.server, "stop", [runId]));
      waiting.push(this.follow(run, item, runId));
    }
    await Promise.all(waiting);
  }

  /** An iteration is run again as its run was, whatever the profile. */
  private isReal(target: Target): boolean {
    return target.iteration !== undefined && !this.runs.get(target.iteration.runId)?.mock;
  }

  changed(state: RunState, before: RunState | undefined): void {
    const known = this.mirrors.get(state.runId);
    if (!known && !before && !hasEnded(state) && this.starting === 0) this.fromElsewhere(state);
    if (hasEnded(state)) void this.finish(state);
  }

  leave(runId: string): void {
    this.mirrors.get(runId)?.leave();
    this.release(runId);
  }

  /** An iteration is done anew: a fork, which takes what was finished before it. */
  private async begin(item: vscode.TestItem, mock: boolean): Promise<string | undefined> {
    const target = this.items.targetOf(item);
    if (!target) return undefined;
    this.starting += 1;
    try {
      const answer = target.iteration
        ? await this.server.run("loopLs.fork", { runId: target.iteration.runId, iteration: target.iteration.number })
        : await this.server.run("loopLs.run", { uri: target.uri.toString(), target: wanted(target), ...(mock ? { mock: true } : {}) });
      return answer?.ok && typeof answer.runId === "string" ? answer.runId : undefined;
    } finally {
      this.starting -= 1;
    }
  }

  private follow(run: vscode.TestRun, item: vscode.TestItem, runId: string): Promise<void> {
    const loop = this.items.targetOf(item)?.iteration ? (parentOf(item) ?? item) : item;
    this.mirrors.get(runId)?.leave();
    this.mirrors.set(runId, new Mirror(this.server, this.items, run, loop, runId, true));
    return new Promise((resolve) => {
      this.ends.set(runId, resolve);
      const state = this.runs.get(runId);
      if (state && hasEnded(state)) void this.finish(state);
    });
  }

  private fromElsewhere(state: RunState): void {
    const item = this.items.itemOf(state);
    if (!item) return;
    const run = this.controller.createTestRun(new vscode.TestRunRequest([item]), nameOf(state), false);
    run.token.onCancellationRequested(() => void say(this.server, "stop", [state.runId]));
    this.mirrors.set(state.runId, new Mirror(this.server, this.items, run, item, state.runId, false));
  }

  private async finish(state: RunState): Promise<void> {
    await this.mirrors.get(state.runId)?.end(state);
    this.release(state.runId);
  }

  private release(runId: string): void {
    this.mirrors.delete(runId);
    this.ends.get(runId)?.();
    this.ends.delete(runId);
  }
}

const parentOf = (item: vscode.TestItem): vscode.TestItem | undefined => item.parent;
