// Shows runs while they go on: a status item with what runs, an output channel with every fact as
// one line, and a message when a run ends. Folds nothing itself: the server sends the state.
import * as vscode from "vscode";

export interface RunState {
  runId: string;
  format?: string;
  name?: string;
  status: string;
  reason?: string;
  iteration?: number;
  maxIterations?: number;
  costUsd?: number;
  lastOutput?: string;
}

export interface RunEvent {
  runId: string;
  seq?: number;
  kind: string;
  iteration?: number;
  maxIterations?: number;
  output?: string;
  verdict?: string;
  answer?: string;
  reason?: string;
  error?: string;
  totalIterations?: number;
  [key: string]: unknown;
}

const ENDED = new Set(["completed", "failed", "cancelled", "blocked"]);

const LIMIT_REASONS = new Set(["max_iterations", "time_limit", "max_rounds", "budget", "fixation", "unchanged"]);

const excerpt = (text: string | undefined, length = 120): string => {
  const line = (text ?? "").replace(/\s+/g, " ").trim();
  return line.length > length ? `${line.slice(0, length - 1)}…` : line;
};

/** A fact as one line of the output channel; undefined for facts that say nothing to a person. */
export function lineOf(event: RunEvent): string | undefined {
  switch (event.kind) {
    case "run_started":
      return "started";
    case "iteration":
      return `iteration ${event.iteration}${event.maxIterations ? `/${event.maxIterations}` : ""}: ${excerpt(event.output)}`;
    case "judged":
      return `iteration ${event.iteration}: ${(event.verdict ?? "unclear").toUpperCase()}`;
    case "round_started":
      return `round ${event.round} of ${event.maxRounds}`;
    case "ops_proposed":
      return `proposed: ${excerpt(String(event.rationale ?? ""))}`;
    case "edit_acknowledged":
      return "the change is in the file";
    case "edit_refused":
      return `the change was not taken: ${excerpt(String(event.failureReason ?? ""))}`;
    case "retrying":
      return `trying again: ${excerpt(String(event.because ?? ""))}`;
    case "paused":
    case "resumed":
    case "interrupted":
      return event.kind;
    case "recovered":
      return "recovered after a restart; one call may have been paid twice";
    case "completed":
      return `completed: ${(event.reason ?? "").replaceAll("_", " ")}`;
    case "failed":
      return `failed: ${excerpt(event.error)}`;
    case "cancelled":
      return "stopped";
    default:
      return undefined;
  }
}

/** The sentence that tells a person how a run ended. */
export function endingOf(state: RunState): string {
  const name = state.name ?? state.runId;
  if (state.status === "cancelled") return `${name} was stopped.`;
  if (state.status === "failed" || state.status === "blocked") return `${name} failed (${(state.reason ?? "error").replaceAll("_", " ")}).`;
  if (state.reason === "condition_met") return `${name}: condition met in iteration ${state.iteration}.`;
  if (state.format === "enhance") {
    if (state.reason === "converged") return `${name}: converged in round ${state.iteration}.`;
    return `${name}: gave up after round ${state.iteration} (${(state.reason ?? "no reason").replaceAll("_", " ")}).`;
  }
  if (state.reason && LIMIT_REASONS.has(state.reason)) {
    return `${name}: limit reached after ${state.iteration} iterations, condition not met.`;
  }
  return `${name}: completed.`;
}

export class RunsView implements vscode.Disposable {
  private readonly states = new Map<string, RunState>();
  private readonly channel = vscode.window.createOutputChannel("Loop Runs");
  private readonly item = vscode.window.createStatusBarItem("loopLs.runs", vscode.StatusBarAlignment.Left, 0);

  constructor() {
    this.item.name = "Loop runs";
    this.item.command = "loopLs.client.showRuns";
  }

  show(): void {
    this.channel.show(true);
  }

  event(event: RunEvent): void {
    const line = lineOf(event);
    if (line === undefined) return;
    const name = this.states.get(event.runId)?.name ?? "run";
    this.channel.appendLine(`${event.runId.slice(0, 8)} ${name}: ${line}`);
  }

  state(state: RunState): void {
    const before = this.states.get(state.runId);
    this.states.set(state.runId, state);
    this.draw();
    if (before && !ENDED.has(before.status) && ENDED.has(state.status)) this.announce(state);
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
    const running = [...this.states.values()].filter((state) => !ENDED.has(state.status));
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
