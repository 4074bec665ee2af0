// The language server as the rest of the extension sees it: started, restarted, asked. One start or
// stop at a time, whatever triggers them. Everything that another editor could show too lives in the server.
import * as vscode from "vscode";
import { LanguageClient, type LanguageClientOptions, RevealOutputChannelOn } from "vscode-languageclient/node";
import type { Memory } from "../answers/memory";
import { type Answer, type Argument, settle } from "../answers/settle";
import type { Server, ServerStatus } from "../part";
import type { RunEvent, RunState } from "../runs/state";
import type { RunStore } from "../runs/store";
import { locateServer, type ServerProgram } from "./locate";

const START_LIMIT = 20_000;

export class Connection implements Server, vscode.Disposable {
  private client: LanguageClient | undefined;
  private busy: Promise<void> = Promise.resolve();
  private current: ServerStatus = "stopped";
  private readonly changed = new vscode.EventEmitter<ServerStatus>();
  readonly onDidChangeStatus = this.changed.event;

  constructor(
    private readonly runs: RunStore,
    private readonly log: vscode.LogOutputChannel,
    private readonly memory: Memory,
  ) {}

  get status(): ServerStatus {
    return this.current;
  }

  /** One start or stop at a time, whatever triggers them, and whatever became of the one before. */
  restart(): Promise<void> {
    this.busy = this.busy.catch(() => undefined).then(() => this.stop()).then(() => this.start());
    return this.busy;
  }

  async stop(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    await client?.dispose(2000).catch((error: unknown) => this.log.warn(`stopping: ${String(error)}`));
    this.become("stopped");
  }

  run(command: string, argument: Argument): Promise<Answer | undefined> {
    return settle((next) => this.ask(command, next), argument, this.memory);
  }

  async ask(command: string, argument: Argument): Promise<Answer | undefined> {
    if (this.current !== "ready") return undefined;
    return this.client?.sendRequest<Answer>("workspace/executeCommand", { command, arguments: [argument] });
  }

  dispose(): void {
    this.changed.dispose();
  }

  private become(status: ServerStatus): void {
    if (this.current === status) return;
    this.current = status;
    this.changed.fire(status);
  }

  private async start(): Promise<void> {
    const program = await locateServer({
      configured: vscode.workspace.getConfiguration("loopLs").get<string[]>("server.command", []),
      folders: vscode.workspace.isTrusted ? (vscode.workspace.workspaceFolders ?? []).map((folder) => folder.uri.fsPath) : [],
      searchPath: process.env.PATH ?? "",
      windows: process.platform === "win32",
    });
    if (!program) {
      this.become("missing");
      this.offerSettings("Loop found no language server. Install loop-ls into .venv, or name it in the settings.");
      return;
    }
    this.become("starting");
    this.log.info(`server: ${[program.command, ...program.args].join(" ")} (${program.origin})`);
    const client = new LanguageClient("loopLs", "Loop", { command: program.command, args: program.args }, this.options());
    this.client = client;
    client.onNotification("loopLs/event", (event: RunEvent) => this.runs.happen(event));
    client.onNotification("loopLs/run", (state: RunState) => this.runs.take(state));
    client.onNotification("loopLs/engine", ({ running }: { running: boolean }) => this.runs.engineIs(running));
    try {
      await withLimit(client.start(), START_LIMIT, `${program.command} did not answer within 20 seconds.`);
      this.become("ready");
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
        listsRuns: true,
        settings: vscode.workspace.getConfiguration("loopLs"),
      },
      synchronize: { configurationSection: "loopLs" },
      middleware: {
        executeCommand: async (command, args, next) => {
          const [first] = args as [Argument?];
          const call = async (argument: Argument) => (await next(command, [argument])) as Answer | undefined;
          return settle(call, first ?? {}, this.memory);
        },
      },
    };
  }

  private async startFailed(program: ServerProgram, error: unknown): Promise<void> {
    this.log.error(`start: ${String(error)}`);
    await this.stop();
    this.become("failed");
    const reason = error instanceof Error ? error.message : String(error);
    this.offerSettings(`Loop could not start ${program.command}: ${reason}`);
  }

  private offerSettings(sentence: string): void {
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
