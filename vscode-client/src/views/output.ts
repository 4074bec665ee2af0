// Every fact of every run as one line of an output channel: for people who like to read along.
import * as vscode from "vscode";
import type { Part } from "../part";
import { lineOf } from "../runs/words";

export const outputPart: Part = ({ runs }) => {
  const channel = vscode.window.createOutputChannel("Loop Runs");
  return [
    channel,
    runs.onDidHappen((event) => {
      const line = lineOf(event);
      if (line === undefined) return;
      channel.appendLine(`${event.runId.slice(0, 8)} ${runs.get(event.runId)?.name ?? "run"}: ${line}`);
    }),
    vscode.commands.registerCommand("loopLs.client.showRuns", () => channel.show(true)),
  ];
};
