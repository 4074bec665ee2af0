// The VS Code client: starts the language server, passes trust and settings on, and shows runs.
// Lists the parts; what a part does stands in its own file.
import * as vscode from "vscode";
import { Memory } from "./answers/memory";
import type { Part } from "./part";
import { enhancingPart } from "./runs/enhancing";
import { RunStore } from "./runs/store";
import { Connection } from "./server/connection";
import { statusPart } from "./views/status";

const PARTS: readonly Part[] = [statusPart, enhancingPart];

const SETTINGS_THAT_RESTART = ["loopLs.server.command", "loopLs.engine.dataDir"];

let connection: Connection | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const log = vscode.window.createOutputChannel("Loop Language Server", { log: true });
  const runs = new RunStore();
  const server = new Connection(runs, log, new Memory(context.workspaceState));
  connection = server;
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
  await server.restart();
}

export async function deactivate(): Promise<void> {
  await connection?.stop();
}
