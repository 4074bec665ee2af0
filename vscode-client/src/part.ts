// What a part of the extension gets and gives: every view and command is a part, `parts.ts` only
// lists them, and none knows another except by what stands here.
import type * as vscode from "vscode";
import type { Answer, Argument } from "./answers/settle";
import type { RunStore } from "./runs/store";

export type ServerStatus = "stopped" | "starting" | "ready" | "missing" | "failed";

export interface Server {
  readonly status: ServerStatus;
  readonly onDidChangeStatus: vscode.Event<ServerStatus>;
  /** One command of the server with its one argument; asks for input and consent where the answer says so.
   * Undefined when there is no server or the person gave up. Never throws for a refusal: that is an answer. */
  run(command: string, argument: Argument): Promise<Answer | undefined>;
  /** The same without asking or telling anybody: for views that read. */
  ask(command: string, argument: Argument): Promise<Answer | undefined>;
}

export interface Surroundings {
  readonly context: vscode.ExtensionContext;
  readonly server: Server;
  readonly runs: RunStore;
  readonly log: vscode.LogOutputChannel;
}

/** Registers what it contributes. Must be quick: nothing here may wait or read. */
export type Part = (around: Surroundings) => vscode.Disposable[];
