// The door of the extension: small, read in every window with a YAML or JSON file. It only looks whether there
// are loop files, and stands in for our commands; with the first of either, the rest is loaded (`client.ts`).
import * as vscode from "vscode";
import type { Client } from "./client";
import { registerSchemas, type SchemaFiles } from "./editing/jsonSchemas";
import { isLoopFile, mayBeOurs } from "./server/ours";
import { loading } from "./server/processor";

let client: Promise<Client> | undefined;
let asleep: vscode.Disposable[] = [];
let loadedIn: number | undefined;

/** For tests: whether anything but the door is there, and the processor's milliseconds that the rest took, then,
 * while the server starts, the library of the protocol. */
export interface Door {
  readonly awake: boolean;
  readonly loadedIn: number | undefined;
  readonly libraryIn: () => Promise<number | undefined>;
}

export function activate(context: vscode.ExtensionContext): Door {
  const schemas = registerSchemas(context.extensionUri);
  const wake = (): Promise<Client> => {
    client ??= load(context, schemas);
    return client;
  };
  const look = (document: vscode.TextDocument): void => {
    if (!client && isLoopFile(document)) void wake();
  };
  asleep = [
    ...ownCommands(context).map((id) => vscode.commands.registerCommand(id, (...args: unknown[]) => passOn(wake(), id, args))),
    vscode.window.registerTreeDataProvider("loopLs.client.runs", { getChildren: () => void wake(), getTreeItem: neverAsked }),
    vscode.workspace.onDidOpenTextDocument(look),
    vscode.workspace.onDidChangeTextDocument((change) => {
      if (mayBeOurs(change.document)) look(change.document);
    }),
    vscode.workspace.onDidChangeWorkspaceFolders(() => void lookForSettings(wake)),
  ];
  context.subscriptions.push(
    schemas,
    { dispose: sleepNoMore },
    vscode.window.registerWebviewPanelSerializer("loopLs.run", {
      deserializeWebviewPanel: async (panel, state) => {
        await wake();
        await vscode.commands.executeCommand("loopLs.client.openRun", state, panel);
      },
    }),
  );
  vscode.workspace.textDocuments.forEach(look);
  if (showsOurs()) void wake();
  void lookForSettings(wake);
  return {
    get awake() {
      return client !== undefined;
    },
    get loadedIn() {
      return loadedIn;
    },
    libraryIn: async () => (await client)?.libraryIn(),
  };
}

export async function deactivate(): Promise<void> {
  await (await client)?.stop();
  client = undefined;
}

async function load(context: vscode.ExtensionContext, schemas: SchemaFiles): Promise<Client> {
  const { loaded, milliseconds } = await loading(async () => {
    const { start } = await import("./client.js");
    sleepNoMore(); // before the real commands are registered under the same names
    void vscode.commands.executeCommand("setContext", "loopLs.active", true);
    return start(context, schemas);
  });
  loadedIn = milliseconds;
  return loaded;
}

/** The view of runs is empty until somebody looks at it, and that wakes the client. */
const neverAsked = (item: vscode.TreeItem): vscode.TreeItem => item;

function sleepNoMore(): void {
  for (const one of asleep.splice(0)) one.dispose();
}

function ownCommands(context: vscode.ExtensionContext): string[] {
  const manifest = context.extension.packageJSON as { contributes?: { commands?: { command: string }[] } };
  return (manifest.contributes?.commands ?? []).map((one) => one.command);
}

/** What a person asked for before anything was loaded: the same again, now that somebody answers. */
async function passOn(waking: Promise<Client>, id: string, args: unknown[]): Promise<unknown> {
  const { started } = await waking;
  if (!(await vscode.commands.getCommands(true)).includes(id)) await started;
  return vscode.commands.executeCommand(id, ...args);
}

/** A page of ours that the editor brought back from the last time waits for somebody to fill it. */
function showsOurs(): boolean {
  const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs);
  return tabs.some(({ input }) => input instanceof vscode.TabInputWebview && input.viewType.includes("loopLs."));
}

/** The project's settings at the root of a folder say that loops are at home here, with no file open. */
async function lookForSettings(wake: () => Promise<Client>): Promise<void> {
  if (client) return;
  const folders = vscode.workspace.workspaceFolders ?? [];
  const there = await Promise.all(folders.map((folder) => exists(vscode.Uri.joinPath(folder.uri, ".loop-ls.yaml"))));
  if (there.includes(true)) void wake();
}

function exists(file: vscode.Uri): Promise<boolean> {
  return Promise.resolve(vscode.workspace.fs.stat(file)).then(
    () => true,
    () => false,
  );
}
