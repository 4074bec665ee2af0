// How a run looks in every view: one icon and colour for each state, so that a limit never looks like a success.
import * as vscode from "vscode";
import { endedAtLimit, type RunState } from "../runs/state";

export interface Look {
  icon: string;
  color?: string;
}

export function lookOf(state: RunState): Look {
  switch (state.status) {
    case "queued":
    case "running":
      return { icon: "sync~spin", color: "charts.blue" };
    case "stopping":
      return { icon: "loading~spin", color: "disabledForeground" };
    case "waiting_approval":
      return { icon: "bell-dot", color: "charts.yellow" };
    case "paused":
      return { icon: "debug-pause", color: "charts.blue" };
    case "interrupted":
      return { icon: "debug-disconnect", color: "charts.yellow" };
    case "completed":
      if (endedAtLimit(state)) return { icon: "primitive-square", color: "charts.orange" };
      return { icon: "pass-filled", color: "testing.iconPassed" };
    case "failed":
    case "blocked":
      return { icon: "error", color: "testing.iconFailed" };
    case "cancelled":
      return { icon: "debug-stop", color: "disabledForeground" };
    default:
      return { icon: "circle-outline" };
  }
}

export function iconOf(state: RunState): vscode.ThemeIcon {
  const { icon, color } = lookOf(state);
  return new vscode.ThemeIcon(icon, color === undefined ? undefined : new vscode.ThemeColor(color));
}
