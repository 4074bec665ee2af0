// The server's own environment: one folder for each wheel, made aside, stamped and then moved to its place, so
// that a half-made one is never used. Two windows make it once; a stamp that does not fit means make it again.
import { access, constants, mkdir, readFile, readdir, rename, rm, writeFile } from "node:fs/promises";
import * as path from "node:path";
import type { RunChild } from "../child";
import { takeLock } from "./lock";
import { lastLines, whyPackagesFailed } from "./packages";
import { TroubleError } from "../trouble";
import type { Wheel } from "./wheel";

const MAKE_LIMIT = 3 * 60_000;
const INSTALL_LIMIT = 15 * 60_000;
const TRY_LIMIT = 60_000;
const STAMP = "loop-ls.json";
const BUILDING = "building-";

export interface Making {
  /** Where environments live: below the extension's own storage. */
  root: string;
  wheel: Wheel;
  run: RunChild;
  env: NodeJS.ProcessEnv;
  signal: AbortSignal;
  windows: boolean;
  /** One line for people who wait. */
  report: (step: string) => void;
  log: (line: string) => void;
}

/** Its folder's name: the version for people, the hash so that no other build of it is taken for this one. */
export function environmentName(wheel: Wheel): string {
  return `${wheel.version}-${wheel.sha256.slice(0, 12)}`;
}

export function pythonOf(folder: string, windows: boolean): string {
  return windows ? path.join(folder, "Scripts", "python.exe") : path.join(folder, "bin", "python");
}

/** The Python of the finished environment for this wheel; undefined where there is none that can be used. */
export async function madeEnvironment(root: string, wheel: Wheel, windows: boolean): Promise<string | undefined> {
  const folder = path.join(root, environmentName(wheel));
  try {
    const stamp = JSON.parse(await readFile(path.join(folder, STAMP), "utf8")) as { version?: string; sha256?: string };
    if (stamp.version !== wheel.version || stamp.sha256 !== wheel.sha256) return undefined;
    await access(pythonOf(folder, windows), constants.X_OK); // its base may have been uninstalled
    return pythonOf(folder, windows);
  } catch {
    return undefined;
  }
}

/** Makes it with what `python` finds, unless another window does so meanwhile. Rejects with a `TroubleError`. */
export async function makeEnvironment(making: Making, python: () => Promise<string>): Promise<string> {
  const { root, wheel, windows } = making;
  const lock = await takeLock(path.join(root, "lock"), making.signal, () => making.report("another window is already doing this")).catch(
    (error: unknown) => fail(making, error),
  );
  try {
    const made = await madeEnvironment(root, wheel, windows);
    if (made) return made;
    await clear(root, (name) => name.startsWith(BUILDING));
    const building = path.join(root, `${BUILDING}${process.pid}-${Date.now().toString(36)}`);
    try {
      await build(making, await python(), building);
      return (await madeEnvironment(root, wheel, windows)) ?? (await moveIn(making, building));
    } catch (error) {
      await rm(building, { recursive: true, force: true }).catch(() => undefined);
      throw error;
    }
  } catch (error) {
    return fail(making, error);
  } finally {
    await lock.release();
  }
}

async function build(making: Making, python: string, folder: string): Promise<void> {
  const { wheel, report, log } = making;
  const own = pythonOf(folder, making.windows);
  report("an environment");
  log(`creating an environment with ${python}`);
  const made = await child(making, python, ["-I", "-m", "venv", folder], MAKE_LIMIT);
  if (made.ending === "cancelled") throw new TroubleError({ kind: "cancelled" });
  if (made.code !== 0) {
    throw new TroubleError({ kind: "no_environment", python, said: lastLines(`${made.stdout}\n${made.stderr}`) });
  }
  report("its packages");
  const quiet = ["--disable-pip-version-check", "--no-input", "--no-color", "--progress-bar", "off", "--retries", "2"];
  const what = ["--requirement", wheel.requirements, wheel.file];
  const installed = await child(making, own, ["-I", "-m", "pip", "install", ...quiet, ...what], INSTALL_LIMIT);
  if (installed.ending !== "exited" || installed.code !== 0) throw new TroubleError(whyPackagesFailed(installed));
  const tried = await child(making, own, ["-I", "-m", "loop_ls", "--version"], TRY_LIMIT);
  if (tried.ending === "cancelled") throw new TroubleError({ kind: "cancelled" });
  if (tried.code !== 0) throw new TroubleError({ kind: "ended_at_once", command: own, said: lastLines(tried.stderr) });
  const stamp = { version: wheel.version, sha256: wheel.sha256, python };
  await writeFile(path.join(folder, STAMP), `${JSON.stringify(stamp, null, 2)}\n`);
}

async function moveIn({ root, wheel, windows }: Making, building: string): Promise<string> {
  const place = path.join(root, environmentName(wheel));
  await rm(place, { recursive: true, force: true });
  await rename(building, place);
  return pythonOf(place, windows);
}

async function child(making: Making, command: string, args: string[], limit: number) {
  const { run, root, env, signal, report, log } = making;
  const onLine = (line: string): void => {
    log(line);
    const step = stepOf(line);
    if (step) report(step);
  };
  const outcome = await run({ command, args, cwd: root, env, limit, signal, onLine });
  for (const line of outcome.stderr.trim().split(/\r?\n/)) if (line) log(line);
  return outcome;
}

/** What a line of pip means to a person who waits. */
export function stepOf(line: string): string | undefined {
  const collecting = /^Collecting ([A-Za-z0-9._-]+)/.exec(line);
  if (collecting) return `its packages: ${collecting[1]}`;
  return /^Installing collected packages/.test(line) ? "installing" : undefined;
}

function fail(making: Making, error: unknown): never {
  if (error instanceof TroubleError) throw error;
  if (making.signal.aborted) throw new TroubleError({ kind: "cancelled" });
  const { code, message } = error as NodeJS.ErrnoException;
  throw new TroubleError({ kind: "not_writable", folder: making.root, because: code ?? message });
}

/** Environments that are not this wheel's and that no process runs from. Never rejects. */
export async function clearOld(root: string, wheel: Wheel, inUse: (folder: string) => Promise<boolean>): Promise<string[]> {
  const names = await readdir(root).catch(() => [] as string[]);
  const cleared: string[] = [];
  for (const name of names) {
    const old = /^\d/.test(name) && name !== environmentName(wheel);
    if (!old || (await inUse(path.join(root, name)))) continue;
    const gone = await rm(path.join(root, name), { recursive: true }).then(
      () => true,
      () => false,
    );
    if (gone) cleared.push(name);
  }
  return cleared;
}

/** The environment is there but its server does not start: it is made anew the next time. */
export async function discardEnvironment(root: string, wheel: Wheel): Promise<void> {
  await rm(path.join(root, environmentName(wheel), STAMP), { force: true }).catch(() => undefined);
}

async function clear(root: string, which: (name: string) => boolean): Promise<void> {
  await mkdir(root, { recursive: true });
  for (const name of await readdir(root)) {
    if (which(name)) await rm(path.join(root, name), { recursive: true, force: true });
  }
}
