// Everything behind the door: loaded with the first loop file of a window or the first command of a person,
// as a bundle of its own. Starts the server and the parts; what a part does stands in its own file.
import * as vscode from "vscode";
import { Memory } from "./answers/memory";
import { PARTS } from "./parts";
import { RunStore } from "./runs/store";
import { Connection } from "./server/connection";

const SETTINGS_THAT_RESTART = ["loopLs.server.command", "loopLs.engine.dataDir"];

export interface Client {
  /** Settled when the first start of the server has come to an end, good or bad. */
  readonly started: Promise<void>;
  stop(): Promise<void>;
}

export function start(context: vscode.ExtensionContext): Client {
  const log = vscode.window.createOutputChannel("Loop Language Server", { log: true });
  const runs = new RunStore();
  const server = new Connection(runs, log, new Memory(context.workspaceState));
  context.subscriptions.push(
    log,
    runs,
    server,
    ...PARTS.flatMap((part) => part({ context, server, runs, log })),
    vscode.commands.registerCommand("loopLs.client.restart", () => server.restart()),
    vscode.workspace.onDidGrantWorkspaceTrust(() => server.restart()),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (SETTINGS_THAT_RESTART.some((setting) => change.affectsConfiguration(setting))) void server.restart();
    }),
  );
  return { started: server.restart(), stop: () => server.stop() };
}
