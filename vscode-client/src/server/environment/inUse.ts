// Whether a process runs from a folder: an engine may outlive the editor and the version that started it, and
// its environment must not go away under it. Where this cannot be told, the answer is yes.
import { readFile, readdir } from "node:fs/promises";
import type { RunChild } from "../child";

export function inUse(folder: string, run: RunChild, cwd: string): Promise<boolean> {
  switch (process.platform) {
    case "linux":
      return inProc(folder);
    case "win32":
      return Promise.resolve(false); // files of a running program cannot be removed there
    default:
      return inList(folder, run, cwd);
  }
}

async function inProc(folder: string): Promise<boolean> {
  try {
    const ids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
    const lines = await Promise.all(ids.map((id) => readFile(`/proc/${id}/cmdline`, "utf8").catch(() => "")));
    return lines.some((line) => line.includes(`${folder}/`));
  } catch {
    return true;
  }
}

async function inList(folder: string, run: RunChild, cwd: string): Promise<boolean> {
  const { ending, code, stdout } = await run({ command: "ps", args: ["-Axo", "args="], cwd, env: process.env, limit: 10_000 });
  return ending !== "exited" || code !== 0 || stdout.includes(`${folder}/`);
}
