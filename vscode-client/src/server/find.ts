// The server to start: a program that is there already, else the one that the extension carries, set up on its
// first start while people see how far it is. Rejects with a `TroubleError`; starts no server itself.
import { homedir } from "node:os";
import * as path from "node:path";
import * as vscode from "vscode";
import { runChild } from "./child";
import { clearOld, discardEnvironment, madeEnvironment, makeEnvironment, type Making } from "./environment/environment";
import type { Found } from "./connection";
import { inUse } from "./environment/inUse";
import { locateServer, type ServerProgram } from "./locate";
import { findPython, type Places, suitable, type Tried } from "./environment/python";
import { forPython } from "./surroundings";
import { TroubleError } from "./trouble";
import { carriedWheel, type Wheel } from "./environment/wheel";

const WINDOWS = process.platform === "win32";

export class Finder implements Found {
  private readonly aborting = new AbortController();
  private wheel: Promise<Wheel | undefined> | undefined;

  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly log: vscode.LogOutputChannel,
  ) {}

  get root(): string {
    return path.join(this.context.globalStorageUri.fsPath, "server");
  }

  async find(): Promise<ServerProgram> {
    const found = await locateServer({
      configured: setting<string[]>("server.command", []),
      folders: trustedFolders(),
      searchPath: process.env.PATH ?? "",
      home: homedir(),
      windows: WINDOWS,
    });
    if (!found) return this.own();
    if ("wrong" in found) throw new TroubleError({ kind: "wrong_command", command: found.wrong, because: found.because });
    return found;
  }

  carried(): Promise<Wheel | undefined> {
    this.wheel ??= carriedWheel(this.context.extensionUri.fsPath);
    return this.wheel;
  }

  /** What every candidate says of itself, for the doctor. */
  async pythons(): Promise<Tried[]> {
    const oldest = (await this.carried())?.oldestPython ?? ([3, 11] as const);
    const { fsPath } = this.context.extensionUri;
    return findPython(await places(), { run: runChild, cwd: fsPath, env: environment(), oldest, signal: this.aborting.signal });
  }

  environment(program: ServerProgram): NodeJS.ProcessEnv {
    return program.origin === "own" ? environment() : process.env;
  }

  /** The environment whose server did not start; the next `find` makes it anew. */
  async discard(): Promise<void> {
    const wheel = await this.carried();
    if (wheel) await discardEnvironment(this.root, wheel);
  }

  /** Environments of other versions, when nothing runs from them. */
  async tidy(): Promise<void> {
    const wheel = await this.carried();
    const cleared = wheel ? await clearOld(this.root, wheel, (folder) => inUse(folder, runChild, this.root)) : [];
    for (const name of cleared) this.log.info(`removed the environment ${name}`);
  }

  dispose(): void {
    this.aborting.abort();
  }

  private async own(): Promise<ServerProgram> {
    const wheel = await this.carried();
    if (!wheel) throw new TroubleError({ kind: "no_wheel" });
    const python = (await madeEnvironment(this.root, wheel, WINDOWS)) ?? (await this.make(wheel));
    return { command: python, args: ["-I", "-m", "loop_ls", "serve"], origin: "own" };
  }

  private make(wheel: Wheel): Thenable<string> {
    const options = { location: vscode.ProgressLocation.Notification, title: "Loop: setting up its server…", cancellable: true };
    return vscode.window.withProgress(options, (progress, token) => {
      const cancelling = new AbortController();
      token.onCancellationRequested(() => cancelling.abort());
      const making: Making = {
        root: this.root,
        wheel,
        run: runChild,
        env: environment(),
        signal: AbortSignal.any([cancelling.signal, this.aborting.signal]),
        windows: WINDOWS,
        report: (message) => progress.report({ message }),
        log: (line) => this.log.info(`set-up: ${line}`),
      };
      return makeEnvironment(making, () => this.python());
    });
  }

  private async python(): Promise<string> {
    const tried = await this.pythons();
    const executable = suitable(tried);
    if (executable) return executable;
    throw new TroubleError(this.aborting.signal.aborted ? { kind: "cancelled" } : { kind: "no_python", tried });
  }
}

function trustedFolders(): string[] {
  return vscode.workspace.isTrusted ? (vscode.workspace.workspaceFolders ?? []).map((folder) => folder.uri.fsPath) : [];
}

/** For what the extension brings along; another's server gets the editor's own variables. */
function environment(): NodeJS.ProcessEnv {
  const http = vscode.workspace.getConfiguration("http");
  return forPython(process.env, { proxy: http.get<string>("proxy", ""), noProxy: http.get<string[]>("noProxy", []) });
}

function setting<T>(name: string, otherwise: T): T {
  return vscode.workspace.getConfiguration("loopLs").get<T>(name, otherwise);
}

async function places(): Promise<Places> {
  const configured = setting<string>("server.python", "").replace(/^~(?=[\\/])/, homedir());
  return { configured, selected: await selectedPython(), windows: WINDOWS };
}

interface PythonExtension {
  environments?: { getActiveEnvironmentPath?: () => { path?: string }; resolveEnvironment?: (path: unknown) => Promise<{ executable?: { uri?: vscode.Uri } } | undefined> };
}

/** What is selected in the Python extension; never activates it, and asks nothing where the folder is not trusted. */
async function selectedPython(): Promise<string | undefined> {
  const extension = vscode.extensions.getExtension<PythonExtension>("ms-python.python");
  if (!extension?.isActive || !vscode.workspace.isTrusted) return undefined;
  try {
    const api = extension.exports.environments;
    const resolved = await api?.resolveEnvironment?.(api.getActiveEnvironmentPath?.());
    return resolved?.executable?.uri?.fsPath;
  } catch {
    return undefined;
  }
}
