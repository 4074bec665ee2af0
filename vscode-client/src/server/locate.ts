// Which program is the language server: the one that the settings name, else the workspace's
// own environment, else the PATH. Only looks; starts nothing.
import { access, constants } from "node:fs/promises";
import * as path from "node:path";

export interface ServerProgram {
  command: string;
  args: string[];
  origin: "setting" | "workspace" | "path";
}

export interface Surroundings {
  configured: readonly string[];
  folders: readonly string[];
  searchPath: string;
  windows: boolean;
}

export async function isProgram(file: string): Promise<boolean> {
  return access(file, constants.X_OK).then(
    () => true,
    () => false,
  );
}

export async function locateServer(
  around: Surroundings,
  runnable: (file: string) => Promise<boolean> = isProgram,
): Promise<ServerProgram | undefined> {
  const [command, ...args] = around.configured;
  if (command) return { command, args, origin: "setting" };
  const [bin, name] = around.windows ? ["Scripts", "loop-ls.exe"] : ["bin", "loop-ls"];
  for (const folder of around.folders) {
    for (const environment of [".venv", "venv"]) {
      const file = path.join(folder, environment, bin, name);
      if (await runnable(file)) return { command: file, args: ["serve"], origin: "workspace" };
    }
  }
  for (const folder of around.searchPath.split(path.delimiter).filter(Boolean)) {
    const file = path.join(folder, name);
    if (await runnable(file)) return { command: file, args: ["serve"], origin: "path" };
  }
  return undefined;
}
