// What a test prepares around the editor: a PATH with a Python and nothing else, programs that only say
// something, and the processes below a code-server. Linux only, as the editor tests are.
import { execFileSync } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { availableParallelism, loadavg, tmpdir } from "node:os";
import * as path from "node:path";
import { vi } from "vitest";

/** A folder with the real `python3` of this machine and no other program. The caller removes it. */
export function onlyPython(): string {
  const executable = execFileSync("python3", ["-c", "import sys; print(sys.executable)"], { encoding: "utf8", timeout: 20_000 }).trim();
  const folder = mkdtempSync(path.join(tmpdir(), "path-"));
  symlinkSync(executable, path.join(folder, "python3"));
  return folder;
}

/** 1 on a machine of our own; where others work too, how much longer everything takes. */
export const slowness = (): number => Math.max(1, (loadavg()[0] ?? 0) / availableParallelism());

export function script(file: string, ...lines: string[]): string {
  writeFileSync(file, ["#!/bin/sh", ...lines, ""].join("\n"));
  chmodSync(file, 0o755);
  return file;
}

interface Process {
  pid: number;
  parent: number;
  line: string;
}

function processes(): Process[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const parent = Number(/^\d+ \(.*\) \S (\d+)/s.exec(readFileSync(`/proc/${name}/stat`, "utf8"))?.[1]);
        return [{ pid: Number(name), parent, line: readFileSync(`/proc/${name}/cmdline`, "utf8").replaceAll("\0", " ") }];
      } catch {
        return []; // it ended meanwhile
      }
    });
}

/** Language servers that the windows of this code-server have started. */
export function languageServers(root: number): number[] {
  const all = processes();
  const below = new Set([root]);
  for (let before = 0; before !== below.size; ) {
    before = below.size;
    for (const one of all) if (below.has(one.parent)) below.add(one.pid);
  }
  return all.filter((one) => below.has(one.pid) && /\sserve\s*$/.test(one.line)).map((one) => one.pid);
}

/** The one server that runs, other than `before`. */
export async function runningServer(root: number, before?: number): Promise<number> {
  return vi.waitFor(
    () => {
      const [pid] = languageServers(root).filter((one) => one !== before);
      if (pid === undefined) throw new Error("no language server runs");
      return pid;
    },
    { timeout: 60_000, interval: 100 },
  );
}
