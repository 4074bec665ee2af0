// The language client as we use it: which documents, which options, answers settled with the person. It shows
// nothing by itself: what goes wrong is told by the connection, once.
import * as vscode from "vscode";
import {
  CloseAction,
  ErrorAction,
  LanguageClient,
  type LanguageClientOptions,
  RevealOutputChannelOn,
} from "vscode-languageclient/node";
import type { Memory } from "../answers/memory";
import { type Answer, type Argument, settle } from "../answers/settle";
import { withoutDoubles } from "../editing/doubles";
import { showStarted } from "../panel/started";
import type { ServerProcess } from "./program";

export interface Settled {
  log: vscode.LogOutputChannel;
  trace: vscode.LogOutputChannel;
  memory: Memory;
  /** The server went away by itself. */
  onClosed: () => void;
}

/** The library shows a message for each failed start and each closed connection, whatever its options say. */
export class QuietClient extends LanguageClient {
  override error(message: string, data?: unknown): void {
    super.error(message, data, false);
  }
}

export function clientFor(process: ServerProcess, settled: Settled): LanguageClient {
  return new QuietClient("loopLs", "Loop", () => process.running, options(settled));
}

function options({ log, trace, memory, onClosed }: Settled): LanguageClientOptions {
  return {
    documentSelector: [
      ...["yaml", "json", "jsonc"].flatMap((language) => [
        { scheme: "file", language },
        { scheme: "untitled", language },
      ]),
      { scheme: "file", language: "markdown", pattern: "**/{roles,.claude/agents}/*.md" },
    ],
    outputChannel: log,
    traceOutputChannel: trace,
    revealOutputChannelOn: RevealOutputChannelOn.Never,
    initializationOptions: {
      trusted: vscode.workspace.isTrusted,
      settlesAnswers: true,
      listsRuns: true,
      asksPeople: true,
      showsRuns: true,
      settings: vscode.workspace.getConfiguration("loopLs"),
    },
    initializationFailedHandler: () => false,
    errorHandler: {
      error: () => ({ action: ErrorAction.Continue, handled: true }),
      closed: () => {
        onClosed();
        return { action: CloseAction.DoNotRestart, handled: true };
      },
    },
    synchronize: { configurationSection: "loopLs" },
    middleware: {
      executeCommand: async (command, args, next) => {
        const [first] = args as [Argument?];
        // Other editors get the transcript as a document; here there is a panel for it.
        if (command === "loopLs.history" && first?.show === true) return vscode.commands.executeCommand("loopLs.client.openRun", first);
        const settled = (name: string, given: Argument) => settle(async (argument) => (await next(name, [argument])) as Answer | undefined, given, memory);
        if (command !== "loopLs.enhance.timeline" || first?.show !== true) {
          const answer = await settled(command, first ?? {});
          if (command === "loopLs.run") showStarted(answer);
          return answer;
        }
        // The same for the timeline of an enhance loop: its rounds stand in the panel of the newest loop of the file.
        const answer = await settled("loopLs.enhance.status", { uri: first.uri });
        const { runId } = (answer?.state ?? {}) as { runId?: string };
        return runId ? vscode.commands.executeCommand("loopLs.client.openRun", { runId, tab: "round" }) : answer;
      },
      provideDiagnostics: async (about, previous, token, next) => {
        const report = await next(about, previous, token);
        if (report?.kind !== "full") return report;
        const document = "getText" in about ? about : vscode.workspace.textDocuments.find(({ uri }) => uri.toString() === about.toString());
        return { ...report, items: withoutDoubles(document, report.items) };
      },
    },
  };
}
