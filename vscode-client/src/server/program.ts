// The server's process: started with the right variables from a folder that nobody but its user writes, and
// ended for good. Keeps its last words, so that an ending at once can be told with its reason.
import { spawn, type ChildProcess } from "node:child_process";
import { homedir } from "node:os";
import type { ServerProgram } from "./locate";

const KEPT = 4000;
const POLITE = 2000;

export class ServerProcess {
  private words = "";
  private readonly child: ChildProcess;

  /** Settles when the process runs; rejects with the system's reason where it cannot. */
  readonly running: Promise<ChildProcess>;

  constructor(program: ServerProgram, environment: NodeJS.ProcessEnv) {
    // not in the folder that is open: a Python would import what lies there
    this.child = spawn(program.command, program.args, { cwd: homedir(), env: environment, stdio: "pipe", windowsHide: true });
    this.child.stderr?.setEncoding("utf8").on("data", (text: string) => (this.words = (this.words + text).slice(-KEPT)));
    this.running = new Promise((resolve, reject) => {
      this.child.once("spawn", () => resolve(this.child)).once("error", reject);
    });
    this.child.stdin?.on("error", () => undefined); // it ended first: told by its end
  }

  get pid(): number | undefined {
    return this.child.pid;
  }

  get ended(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }

  /** How it ended, for the log: `code 1`, `SIGKILL`. */
  get ending(): string {
    return this.child.signalCode ?? `code ${this.child.exitCode ?? "?"}`;
  }

  get said(): string {
    return this.words.trim();
  }

  /** After it was asked to leave: waits a moment, then makes it. Settled when the process is gone. */
  async end(): Promise<void> {
    if (this.ended || this.child.pid === undefined) return;
    const gone = new Promise<void>((resolve) => this.child.once("exit", () => resolve()));
    const timer = setTimeout(() => this.child.kill("SIGKILL"), POLITE);
    await gone;
    clearTimeout(timer);
  }

  /** It ends soon; waits at most a moment for the news. */
  async settled(): Promise<void> {
    if (this.ended) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, 500);
      this.child.once("exit", () => {
        clearTimeout(timer);
        resolve();
      });
    });
  }
}
