// The bundles: the door that every window reads, all the rest, loaded by it when it is needed, the page of panels, and
// the engine's page in a browser, which lies in the Python package (`browser.mjs`).
import { build } from "esbuild";
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { buildBrowser } from "./browser.mjs";

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");
const common = { absWorkingDir: root, bundle: true, minify: true, logLevel: "warning" };
const host = { ...common, platform: "node", format: "cjs", target: "node18" };
// `require`, not `import()`: the editor gives `vscode` to those who require it.
host.supported = { "dynamic-import": false };
// The bundler and the client's library copy the whole API for each file that imports it as a name space; a plain
// `require` copies nothing.
const plainRequire = {
  name: "plain-require",
  setup({ onLoad }) {
    onLoad({ filter: /\/src\/.*\.ts$/ }, async ({ path: file }) => {
      const text = await readFile(file, "utf8");
      return { contents: text.replace('import * as vscode from "vscode";', 'const vscode = require("vscode");'), loader: "ts" };
    });
    onLoad({ filter: /\/vscode-languageclient\/lib\/.*\.js$/ }, async ({ path: file }) => {
      const text = await readFile(file, "utf8");
      return { contents: text.replaceAll('__importStar(require("vscode"))', 'require("vscode")'), loader: "js" };
    });
  },
};
host.plugins = [plainRequire];

rmSync(path.join(root, "dist"), { recursive: true, force: true });
// What the extension host reads when it is needed, and not before: `import("./name.js")` beside the entry.
const LATER = { client: "src/client.ts", language: "src/server/language.ts", panels: "src/panel/panels.ts", opening: "src/editing/forms/opening.ts" };
host.external = ["vscode", ...Object.keys(LATER).map((name) => `./${name}.js`)];
await Promise.all([
  build({ ...host, entryPoints: { extension: "src/extension.ts", ...LATER }, outdir: "dist" }),
  build({ ...common, entryPoints: ["src/editing/forms/web/form.ts", "src/editing/forms/web/form.css"], outdir: "dist", target: "es2022" }),
  build({ ...common, entryPoints: { panel: "src/panel/web/page.tsx" }, outdir: "dist", platform: "browser", format: "iife", target: "es2022" }),
  buildBrowser(),
]);

// What the repository has already and the extension carries: templates of new files, and schemas.
cpSync(path.join(root, "../loop_ls/cli/new_files"), path.join(root, "dist/templates"), { recursive: true });
const schemas = path.join(root, "../schemas");
mkdirSync(path.join(root, "dist/schemas"));
for (const name of ["assistant", "role-loop", "settings"]) {
  const schema = JSON.parse(readFileSync(path.join(schemas, `${name}.schema.json`), "utf8"));
  writeFileSync(path.join(root, `dist/schemas/${name}.schema.json`), JSON.stringify(schema));
  writeFileSync(path.join(root, `dist/schemas/${name}.hints.json`), JSON.stringify(onlyHints(schema)));
}

/** A schema that explains and completes and finds no fault: beside ours, every finding of its own is a double. */
function onlyHints(schema) {
  const kept = new Set(["$schema", "$ref", "$defs", "title", "description", "properties", "items", "anyOf", "oneOf", "allOf", "examples", "default"]);
  const inner = (value) => Object.fromEntries(Object.entries(value).map(([name, each]) => [name, hints(each)]));
  const hints = (node) => {
    if (typeof node !== "object" || node === null || Array.isArray(node)) return node === false ? {} : node;
    const entries = Object.entries(node).filter(([key]) => kept.has(key));
    return Object.fromEntries(
      entries.map(([key, value]) => {
        if (key === "properties" || key === "$defs") return [key, inner(value)];
        if (Array.isArray(value) && key.endsWith("Of")) return ["anyOf", [...value.map(hints), {}]];
        return [key, key === "items" ? hints(value) : value];
      }),
    );
  };
  return hints(schema);
}
