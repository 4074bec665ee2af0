// The VS Code client: starts the language server, passes trust and settings on, and settles the
// answers of commands. Everything that another editor could show too lives in the server.
import * as vscode from "vscode";
import { LanguageClient, type LanguageClientOptions, RevealOutputChannelOn } from "vscode-languageclient/node";
import { type Answer, type Argument, settle } from "./answers";
import { registerEnhancing } from "./enhancing";
import { locateServer, type ServerProgram } from "./locate";
import { type RunEvent, type RunState, RunsView } from "./runs";

const SETTINGS_THAT_RESTART = ["loopLs.server.command", "loopLs.engine.dataDir"];

class Extension implements vscode.Disposable {
  private client: LanguageClient | undefined;
  private busy: Promise<void> = Promise.resolve();
  private readonly runs = new RunsView();
  private readonly log = vscode.window.createOutputChannel("Loop Language Server", { log: true });

  /** One start or stop at a time, whatever triggers them, and whatever became of the one before. */
  restart(): Promise<void> {
    this.busy = this.busy.catch(() => undefined).then(() => this.stop()).then(() => this.start());
    return this.busy;
  }

  showRuns(): void {
    this.runs.show();
  }

  async stop(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    await client?.dispose(2000).catch((error: unknown) => this.log.warn(`stopping: ${String(error)}`));
  }

  dispose(): void {
    this.runs.dispose();
    this.log.dispose();
  }

  private async start(): Promise<void> {
    const program = await locateServer({
      configured: vscode.workspace.getConfiguration("loopLs").get<string[]>("server.command", []),
      folders: vscode.workspace.isTrusted ? (vscode.workspace.workspaceFolders ?? []).map((folder) => folder.uri.fsPath) : [],
      searchPath: process.env.PATH ?? "",
      windows: process.platform === "win32",
    });
    if (!program) {
      await this.offerSettings("Loop found no language server. Install loop-ls into .venv, or name it in the settings.");
      return;
    }
    this.log.info(`server: ${[program.command, ...program.args].join(" ")} (${program.origin})`);
    const client = new LanguageClient("loopLs", "Loop", { command: program.command, args: program.args }, this.options());
    this.client = client;
    client.onNotification("loopLs/event", (event: RunEvent) => this.runs.event(event));
    client.onNotification("loopLs/run", (state: RunState) => this.runs.state(state));
    try {
      await withLimit(client.start(), 20_000, `${program.command} did not answer within 20 seconds.`);
    } catch (error) {
      await this.startFailed(program, error);
    }
  }

  private options(): LanguageClientOptions {
    return {
      documentSelector: ["yaml", "json", "jsonc"].flatMap((language) => [
        { scheme: "file", language },
        { scheme: "untitled", language },
      ]),
      outputChannel: this.log,
      revealOutputChannelOn: RevealOutputChannelOn.Never,
      initializationOptions: {
        trusted: vscode.workspace.isTrusted,
        settlesAnswers: true,
        settings: vscode.workspace.getConfiguration("loopLs"),
      },
      synchronize: { configurationSection: "loopLs" },
      middleware: {
        executeCommand: async (command, args, next) => {
          const [first] = args as [Argument?];
          return settle(async (argument) => (await next(command, [argument])) as Answer | undefined, first ?? {});
        },
      },
    };
  }

  private async startFailed(program: ServerProgram, error: unknown): Promise<void> {
    this.log.error(`start: ${String(error)}`);
    await this.stop();
    const reason = error instanceof Error ? error.message : String(error);
    await this.offerSettings(`Loop could not start ${program.command}: ${reason}`);
  }

  private async offerSettings(sentence: string): Promise<void> {
    void vscode.window.showErrorMessage(sentence, "Open Settings", "Show Log").then((choice) => {
      if (choice === "Open Settings") void vscode.commands.executeCommand("workbench.action.openSettings", "loopLs.server.command");
      if (choice === "Show Log") this.log.show();
    });
  }
}

function withLimit<T>(work: Promise<T>, milliseconds: number, sentence: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(sentence)), milliseconds);
  });
  return Promise.race([work, limit]).finally(() => clearTimeout(timer));
}

let extension: Extension | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const started = new Extension();
  extension = started;
  context.subscriptions.push(
    started,
    vscode.commands.registerCommand("loopLs.client.restart", () => started.restart()),
    vscode.commands.registerCommand("loopLs.client.showRuns", () => started.showRuns()),
    ...registerEnhancing(),
    vscode.workspace.onDidGrantWorkspaceTrust(() => started.restart()),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (SETTINGS_THAT_RESTART.some((setting) => change.affectsConfiguration(setting))) void started.restart();
    }),
  );
  await started.restart();
}

export async function deactivate(): Promise<void> {
  await extension?.stop();
}
