// One status item for all loops of the window: what waits for a person first, else what runs and what it has
// cost, else that something was interrupted. Nothing where nothing goes on.
import * as vscode from "vscode";
import type { Part } from "../part";
import { hasEnded, questionsOf, type RunState } from "../runs/state";
import { money, waitingUntil } from "../runs/amounts";
import { nameOf, progressOf } from "../runs/words";

export const statusPart: Part = ({ runs }) => {
  const item = vscode.window.createStatusBarItem("loopLs.runs", vscode.StatusBarAlignment.Left, 0);
  item.name = "Loop runs";
  const draw = () => {
    const shown = summaryOf(runs.where((state) => !hasEnded(state)));
    if (!shown) return item.hide();
    item.text = shown.text;
    item.tooltip = shown.tooltip;
    item.command = shown.command;
    item.backgroundColor = shown.urgent ? new vscode.ThemeColor("statusBarItem.warningBackground") : undefined;
    item.accessibilityInformation = { label: shown.text.replace(/\$\([^)]*\)\s*/g, ""), role: "button" };
    item.show();
  };
  return [item, runs.onDidChange(draw), runs.onDidRemove(draw)];
};

export interface Summary {
  text: string;
  tooltip: string;
  command: string;
  urgent?: boolean;
}

const TREE = "loopLs.client.runs.focus";
const SHOW = "Click to see the runs";

/** Of runs that have not ended; undefined where there is none. */
export function summaryOf(going: readonly RunState[]): Summary | undefined {
  const asking = going.filter((state) => questionsOf(state).length > 0);
  const [asks] = asking;
  if (asks) {
    const text = asking.length === 1 ? `${nameOf(asks)} waits for you` : `${asking.length} loops wait for you`;
    return { text: `$(bell-dot) ${text}`, tooltip: "Click to decide", command: "loopLs.client.decide", urgent: true };
  }
  const working = going.filter((state) => state.status !== "paused" && state.status !== "interrupted");
  const [only] = working;
  if (only) return { text: `$(sync~spin) ${told(only, working)}`, tooltip: tooltipOf(working), command: TREE };
  const [first] = going;
  if (!first) return undefined;
  const halted = first.status === "interrupted" ? "interrupted" : "paused";
  const icon = halted === "paused" ? "debug-pause" : "debug-disconnect";
  const stands = first.resumesAt ? waitingUntil(first.resumesAt) : halted;
  const text = going.length === 1 ? `${nameOf(first)} ${stands}` : `${going.length} loops ${halted}`;
  return { text: `$(${icon}) ${text}`, tooltip: tooltipOf(going), command: TREE };
}

const told = (only: RunState, working: readonly RunState[]): string => {
  const cost = money(working.reduce<number | undefined>((sum, { costUsd }) => (costUsd === undefined ? sum : (sum ?? 0) + costUsd), undefined));
  const what = working.length > 1 ? `${working.length} loops` : [nameOf(only), progressOf(only)].filter(Boolean).join(" ");
  return [what, cost].filter(Boolean).join(" · ");
};

const tooltipOf = (states: readonly RunState[]): string =>
  [...states.slice(0, 10).map((state) => `${nameOf(state)}: ${state.said?.line ?? state.status}`), SHOW].join("\n");
