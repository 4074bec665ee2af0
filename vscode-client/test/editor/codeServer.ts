// One code-server (VS Code in a browser) with its own settings, extensions and process group.
// Needs what .ci/setup-editors prepares and names in the environment; says so where it is missing.
import { execFile, spawn, type ChildProcess } from "node:child_process";
import { closeSync, existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { promisify } from "node:util";

const ROOT = path.resolve(__dirname, "../..");

/** Read by the window: a calm editor in which nothing but the test types, suggests or reports. */
const USER_SETTINGS = {
  "workbench.startupEditor": "none",
  "telemetry.telemetryLevel": "off",
  "workbench.enableExperiments": false,
  "extensions.autoCheckUpdates": false,
  "extensions.autoUpdate": false,
  "extensions.ignoreRecommendations": true,
  "update.mode": "none",
  "workbench.tips.enabled": false,
  "chat.disableAIFeatures": true,
  "workbench.secondarySideBar.defaultVisibility": "hidden",
  "git.enabled": false,
  "window.restoreWindows": "none",
  "files.hotExit": "off",
  "files.autoSave": "off",
  "workbench.reduceMotion": "on",
  "editor.minimap.enabled": false,
  "loopLs.panel.openOnStart": false, // tests open it themselves; one of them looks at how it opens
  "editor.quickSuggestions": { other: "off", comments: "off", strings: "off" },
};

export interface Options {
  /** The packaged extension to install; null: none. Default: this folder's loop-ls.vsix. */
  vsix?: string | null;
  /** Further packaged extensions. */
  more?: string[];
  /** Settings that are there before the extension starts; the user's own arrive later than it (a real race). */
  machine?: Record<string, unknown>;
  user?: Record<string, unknown>;
  environment?: Record<string, string>;
  /** Ask whether the folder is trusted, as the editor does for people. */
  trust?: boolean;
  /** For tests inside the extension host; the editor then shows no messages at all. */
  smoke?: boolean;
}

function needed(variable: string): string {
  const value = process.env[variable];
  if (value && existsSync(value)) return value;
  throw new Error(`${variable} names no file: run .ci/setup-editors and source the env.sh that it leaves`);
}

/** The `loop-ls` program that tests use: LOOP_LS_PROGRAM, else the one of the clone's environment. */
export function serverProgram(): string {
  const program = process.env.LOOP_LS_PROGRAM ?? path.resolve(ROOT, "../.venv/bin/loop-ls");
  if (!existsSync(program)) throw new Error(`${program} is missing: install loop-ls there or set LOOP_LS_PROGRAM`);
  return program;
}

/** Not one that the system hands out: it would hand it out again, to any connection, before the server listens. */
function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const port = 20_000 + Math.floor(Math.random() * 12_000);
    const probe = createServer().once("error", () => resolve(freePort()));
    probe.listen(port, "127.0.0.1", () => probe.close(() => resolve(port)));
  });
}

export class CodeServer {
  private constructor(
    readonly folder: string,
    readonly dataDir: string,
    readonly port: number,
    private readonly child: ChildProcess,
  ) {}

  static async start(options: Options = {}): Promise<CodeServer> {
    const folder = mkdtempSync(path.join(tmpdir(), "cs-")); // short: a socket is made below it
    const dataDir = mkdtempSync(path.join(tmpdir(), "loopdata-"));
    const settings = {
      User: { ...USER_SETTINGS, "security.workspace.trust.enabled": options.trust ?? false, ...options.user },
      Machine: options.machine ?? { "loopLs.server.command": [serverProgram(), "serve"] },
    };
    for (const [kind, values] of Object.entries(settings)) {
      mkdirSync(path.join(folder, "u", kind), { recursive: true });
      writeFileSync(path.join(folder, "u", kind, "settings.json"), JSON.stringify(values));
    }
    writeFileSync(path.join(folder, "config.yaml"), "auth: none\ncert: false\n");
    const node = needed("LOOP_LS_NODE");
    const base = [
      needed("LOOP_LS_CODE_SERVER"),
      ...["--config", path.join(folder, "config.yaml")],
      ...["--user-data-dir", path.join(folder, "u"), "--extensions-dir", path.join(folder, "x")],
    ];
    const vsix = options.vsix === undefined ? path.join(ROOT, "loop-ls.vsix") : options.vsix;
    const packages = [...(vsix ? [vsix] : []), ...(options.more ?? [])].flatMap((each) => ["--install-extension", each]);
    if (packages.length) await promisify(execFile)(node, [...base, ...packages], { timeout: 120_000 });
    const port = await freePort();
    const log = openSync(path.join(folder, "log"), "w");
    const trust = options.trust ? [] : ["--disable-workspace-trust"];
    const smoke = options.smoke ? ["--vscode-option", "enable-smoke-test-driver"] : [];
    const child = spawn(
      node,
      [
        ...base,
        ...["--auth", "none", "--bind-addr", `127.0.0.1:${port}`, "--disable-telemetry", "--disable-update-check"],
        ...["--disable-getting-started-override", "--ignore-last-opened", "--disable-proxy"],
        ...["--reconnection-grace-time", "1", ...trust, ...smoke],
      ],
      {
        env: {
          ...process.env,
          EXTENSIONS_GALLERY: '{"serviceUrl":"","controlUrl":"","recommendationsUrl":""}',
          LOOP_LS_DATA_DIR: dataDir,
          ...options.environment,
        },
        stdio: ["ignore", log, log],
        detached: true, // a group of its own, ended as a whole
      },
    );
    closeSync(log);
    const server = new CodeServer(folder, dataDir, port, child);
    await server.answers();
    return server;
  }

  private async answers(limit = 60_000): Promise<void> {
    const end = Date.now() + limit;
    while (Date.now() < end) {
      const answer = await fetch(`http://127.0.0.1:${this.port}/healthz`).catch(() => undefined);
      if (answer?.ok) return;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    throw new Error(`code-server did not answer within ${limit} ms:\n${readFileSync(path.join(this.folder, "log"), "utf8")}`);
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  /** A file as the browser's window names it. */
  remote(file: string): string {
    return `vscode-remote://127.0.0.1:${this.port}${file}`;
  }

  address(folder: string, payload: [string, string][]): string {
    const query = new URLSearchParams({ folder, payload: JSON.stringify(payload) });
    return `http://127.0.0.1:${this.port}/?${query.toString()}`;
  }

  /** Ends the whole group and the engine that it started; leaves nothing behind. */
  async stop(): Promise<void> {
    const ended = new Promise<void>((resolve) => this.child.once("exit", () => resolve()));
    if (this.child.exitCode === null) {
      process.kill(-(this.child.pid ?? 0), "SIGTERM");
      const timer = setTimeout(() => process.kill(-(this.child.pid ?? 0), "SIGKILL"), 20_000);
      await ended;
      clearTimeout(timer);
    }
    const stop = ["engine", "stop", "--data-dir", this.dataDir];
    await promisify(execFile)(serverProgram(), stop, { timeout: 30_000 }).catch(() => undefined);
    for (const folder of [this.folder, this.dataDir]) rmSync(folder, { recursive: true, force: true });
  }
}
