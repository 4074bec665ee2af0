// Everything behind the door: loaded with the first loop file of a window or the first command of a person,
// as a bundle of its own. Starts the server and the parts; what a part does stands in its own file.
import * as vscode from "vscode";
import { Memory } from "./answers/memory";
import type { SchemaFiles } from "./editing/jsonSchemas";
import { PARTS } from "./parts";
import { RunStore } from "./runs/store";
import { Connection } from "./server/connection";
import { Doctor } from "./server/doctor";
import { Finder } from "./server/find";
import { Announcements } from "./server/announcements";
import { TraceChannel } from "./server/trace";

const SETTINGS_THAT_RESTART = ["loopLs.server.command", "loopLs.server.python", "loopLs.engine.dataDir"];

export interface Client {
  /** Settled when the first start of the server has come to an end, good or bad. */
  readonly started: Promise<void>;
  /** For tests: see `Connection`. */
  readonly libraryIn: () => number | undefined;
  stop(): Promise<void>;
}

export function start(context: vscode.ExtensionContext, schemas: SchemaFiles): Client {
  const log = vscode.window.createOutputChannel("Loop Language Server", { log: true });
  const trace = new TraceChannel();
  const runs = new RunStore();
  const finder = new Finder(context, log);
  const memory = new Memory(context.workspaceState);
  const server = new Connection(runs, log, trace, memory, finder, new Announcements(context, finder));
  const doctor = new Doctor(server, finder, context.extension);
  context.subscriptions.push(
    log,
    trace,
    runs,
    finder,
    server,
    doctor,
    server.onDidChangeStatus((status) => schemas.follow(status)),
    ...PARTS.flatMap((part) => part({ context, server, runs, log })),
    vscode.commands.registerCommand("loopLs.client.restart", () => server.restart()),
    vscode.commands.registerCommand("loopLs.client.showLog", () => log.show()),
    vscode.commands.registerCommand("loopLs.client.doctor", () => doctor.show()),
    vscode.workspace.onDidGrantWorkspaceTrust(() => server.restart()),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (SETTINGS_THAT_RESTART.some((setting) => change.affectsConfiguration(setting))) void server.restart();
    }),
  );
  const stop = async (): Promise<void> => {
    finder.dispose();
    await server.stop();
  };
  return { started: server.restart(), libraryIn: () => server.libraryIn, stop };
}
