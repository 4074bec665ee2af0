// The server that the extension carries: which wheel, of which version, what it needs. Absent where the
// extension runs from its sources and was never packaged.
import { readFile } from "node:fs/promises";
import * as path from "node:path";

export interface Wheel {
  file: string;
  requirements: string;
  version: string;
  sha256: string;
  oldestPython: readonly [number, number];
}

export async function carriedWheel(extensionFolder: string): Promise<Wheel | undefined> {
  const folder = path.join(extensionFolder, "wheel");
  try {
    const page = JSON.parse(await readFile(path.join(folder, "wheel.json"), "utf8")) as Record<"file" | "version" | "sha256" | "python", string>;
    const [major = 3, minor = 11] = page.python.split(".").map(Number);
    return {
      file: path.join(folder, page.file),
      requirements: path.join(folder, "requirements.txt"),
      version: page.version,
      sha256: page.sha256,
      oldestPython: [major, minor],
    };
  } catch {
    return undefined;
  }
}
