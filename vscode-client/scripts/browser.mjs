// The engine's page in a browser: one script, one style sheet, one page of HTML and an icon, written into the Python
// package, where they are part of the repository: who installs that builds nothing. A test compares them with this.
import { build } from "esbuild";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");
const SOURCES = "src/browser";
export const BUILT = path.join(root, "../loop_ls/engine/api/page/built");

/** Name of a file -> its content. */
export async function browserFiles() {
  const { outputFiles } = await build({
    absWorkingDir: root,
    bundle: true,
    minify: true,
    charset: "utf8",
    logLevel: "warning",
    entryPoints: { page: `${SOURCES}/page.tsx` },
    outdir: "built",
    platform: "browser",
    format: "iife",
    target: "es2022",
    write: false,
  });
  const made = outputFiles.map(({ path: file, text }) => [path.basename(file), text]);
  const copied = ["page.html", "icon.svg"].map((name) => [name, readFileSync(path.join(root, SOURCES, name), "utf8")]);
  return Object.fromEntries([...made, ...copied]);
}

export async function buildBrowser() {
  mkdirSync(BUILT, { recursive: true });
  for (const [name, text] of Object.entries(await browserFiles())) writeFileSync(path.join(BUILT, name), text);
}
