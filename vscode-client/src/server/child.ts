// A program that is run to its end: with a limit, in a group of its own that is ended as a whole, and with the
// last of what it said. Knows nothing of what is run. Commands are argument lists, never a shell's line.
import { spawn, type ChildProcess } from "node:child_process";

/** What is kept of each stream, from its end. */
const KEPT = 64 * 1024;
const POLITE = 2000;

export interface Order {
  command: string;
  args: readonly string[];
  cwd: string;
  env: NodeJS.ProcessEnv;
  /** Milliseconds after which the whole group is ended. */
  limit: number;
  signal?: AbortSignal;
  /** Each whole line of the standard output, as it comes. */
  onLine?: (line: string) => void;
}

export type Ending = "exited" | "limit" | "cancelled" | "not_started";

export interface Outcome {
  ending: Ending;
  code: number | null;
  stdout: string;
  stderr: string;
  /** Why it did not start, such as `ENOENT`. */
  error?: string;
}

export type RunChild = (order: Order) => Promise<Outcome>;

export const runChild: RunChild = (order) =>
  new Promise((resolve) => {
    if (order.signal?.aborted) return resolve({ ending: "cancelled", code: null, stdout: "", stderr: "" });
    const child = spawn(order.command, order.args, {
      cwd: order.cwd,
      env: order.env,
      stdio: ["ignore", "pipe", "pipe"],
      detached: process.platform !== "win32",
      windowsHide: true,
    });
    const said = { stdout: "", stderr: "" };
    let ending: Ending = "exited";
    let line = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      said.stdout = (said.stdout + text).slice(-KEPT);
      const lines = (line + text).split(/\r?\n/);
      line = lines.pop() ?? "";
      for (const whole of lines) order.onLine?.(whole);
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => (said.stderr = (said.stderr + text).slice(-KEPT)));
    const end = (because: Ending) => (): void => {
      ending = because;
      endGroup(child);
    };
    const timer = setTimeout(end("limit"), order.limit);
    const cancel = end("cancelled");
    order.signal?.addEventListener("abort", cancel);
    const finish = (outcome: Pick<Outcome, "ending" | "code" | "error">): void => {
      clearTimeout(timer);
      order.signal?.removeEventListener("abort", cancel);
      resolve({ ...outcome, ...said });
    };
    child.once("error", (error: NodeJS.ErrnoException) => finish({ ending: "not_started", code: null, error: error.code ?? error.message }));
    child.once("close", (code) => finish({ ending, code }));
  });

function endGroup(child: ChildProcess): void {
  if (child.pid === undefined || child.exitCode !== null) return;
  if (process.platform === "win32") {
    spawn("taskkill", ["/pid", String(child.pid), "/T", "/F"], { stdio: "ignore", windowsHide: true }).on("error", () => child.kill());
    return;
  }
  signal(child.pid, "SIGTERM");
  const timer = setTimeout(() => signal(child.pid ?? 0, "SIGKILL"), POLITE);
  child.once("close", () => clearTimeout(timer));
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(-pid, name);
  } catch {
    // the group is gone
  }
}
