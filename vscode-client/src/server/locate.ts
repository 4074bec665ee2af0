// Which program is the language server: the one that the settings name, else the workspace's own
// environment, else the PATH. Only looks; starts nothing and makes nothing.
import { access, constants, stat } from "node:fs/promises";
import * as path from "node:path";

export type Origin = "setting" | "workspace" | "path" | "own";

export interface ServerProgram {
  command: string;
  args: string[];
  origin: Origin;
}

/** The setting names something that cannot be started: people want to know, not to get another server. */
export interface WrongCommand {
  wrong: string;
  because: "missing" | "not_a_program";
}

export interface Surroundings {
  configured: readonly string[];
  /** Folders of the workspace; none where it is not trusted, so that nothing of it is started. */
  folders: readonly string[];
  searchPath: string;
  home: string;
  windows: boolean;
}

export type Look = (file: string) => Promise<"program" | "other" | "missing">;

export const look: Look = async (file) => {
  try {
    if (!(await stat(file)).isFile()) return "other";
    await access(file, constants.X_OK);
    return "program";
  } catch (error) {
    return ["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "") ? "missing" : "other";
  }
};

export async function locateServer(around: Surroundings, see: Look = look): Promise<ServerProgram | WrongCommand | undefined> {
  const [command, ...args] = around.configured.map((part) => filledIn(part, around));
  if (command) return configured(inFolder(command, around), args, around, see);
  const [bin, name] = around.windows ? ["Scripts", "loop-ls.exe"] : ["bin", "loop-ls"];
  for (const folder of around.folders) {
    for (const environment of [".venv", "venv"]) {
      const file = path.join(folder, environment, bin, name);
      if ((await see(file)) === "program") return { command: file, args: ["serve"], origin: "workspace" };
    }
  }
  const file = await onPath(name, around, see);
  return file ? { command: file, args: ["serve"], origin: "path" } : undefined;
}

async function configured(command: string, args: string[], around: Surroundings, see: Look): Promise<ServerProgram | WrongCommand> {
  if (!/[\\/]/.test(command)) {
    const file = (await onPath(command, around, see)) ?? (around.windows ? await onPath(`${command}.exe`, around, see) : undefined);
    return file ? { command: file, args, origin: "setting" } : { wrong: command, because: "missing" };
  }
  const seen = await see(command);
  if (seen === "program") return { command, args, origin: "setting" };
  return { wrong: command, because: seen === "missing" ? "missing" : "not_a_program" };
}

async function onPath(name: string, around: Surroundings, see: Look): Promise<string | undefined> {
  for (const folder of around.searchPath.split(path.delimiter)) {
    if (!path.isAbsolute(folder)) continue; // would be a program of the folder that is open
    const file = path.join(folder, name);
    if ((await see(file)) === "program") return file;
  }
  return undefined;
}

/** `.venv/bin/loop-ls` is meant from the folder that is open, where that is trusted. */
function inFolder(command: string, { folders: [folder] }: Surroundings): string {
  const relative = /[\\/]/.test(command) && !path.isAbsolute(command);
  return relative && folder !== undefined ? path.join(folder, command) : command;
}

function filledIn(part: string, around: Surroundings): string {
  const [folder] = around.folders;
  const home = part.startsWith("~/") ? path.join(around.home, part.slice(2)) : part;
  return folder === undefined ? home : home.replaceAll("${workspaceFolder}", folder);
}
