// Runs while they go on, in one line: a status item with what runs, an output channel with every fact,
// and a message when a run ends.
import * as vscode from "vscode";
import type { Part } from "../part";
import { hasEnded, type RunEvent, type RunState } from "../runs/state";
import type { Change, RunStore } from "../runs/store";
import { endingOf, lineOf } from "../runs/words";

export const statusPart: Part = ({ runs }) => {
  const view = new RunsView(runs);
  return [
    view,
    runs.onDidHappen((event) => view.event(event)),
    runs.onDidChange((change) => view.changed(change)),
    vscode.commands.registerCommand("loopLs.client.showRuns", () => view.show()),
  ];
};

export class RunsView implements vscode.Disposable {
  private readonly channel = vscode.window.createOutputChannel("Loop Runs");
  private readonly item = vscode.window.createStatusBarItem("loopLs.runs", vscode.StatusBarAlignment.Left, 0);

  constructor(private readonly runs: RunStore) {
    this.item.name = "Loop runs";
    this.item.command = "loopLs.client.showRuns";
  }

  show(): void {
    this.channel.show(true);
  }

  event(event: RunEvent): void {
    const line = lineOf(event);
    if (line === undefined) return;
    const name = this.runs.get(event.runId)?.name ?? "run";
    this.channel.appendLine(`${event.runId.slice(0, 8)} ${name}: ${line}`);
  }

  changed({ state, before }: Change): void {
    this.draw();
    if (before && !hasEnded(before) && hasEnded(state)) this.announce(state);
  }

  dispose(): void {
    this.channel.dispose();
    this.item.dispose();
  }

  private announce(state: RunState): void {
    const show = state.status === "failed" ? vscode.window.showErrorMessage : vscode.window.showInformationMessage;
    void show(endingOf(state), "Show Output").then((choice) => {
      if (choice) this.show();
    });
  }

  private draw(): void {
    const running = this.runs.all().filter((state) => !hasEnded(state));
    const [only] = running;
    if (!only) {
      this.item.hide();
      return;
    }
    const progress = only.maxIterations ? ` ${only.iteration ?? 0}/${only.maxIterations}` : "";
    this.item.text = running.length === 1 ? `$(sync~spin) ${only.name ?? "loop"}${progress}` : `$(sync~spin) ${running.length} loops`;
    this.item.tooltip = "Loops that are running; click for their output";
    this.item.show();
  }
}
