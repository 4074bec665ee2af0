// The bundles: the door that every window reads, all the rest, loaded by it when it is needed, and the page of panels.
import { build } from "esbuild";
import { rmSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");
const common = { absWorkingDir: root, bundle: true, minify: true, logLevel: "warning" };
const host = { ...common, external: ["vscode"], platform: "node", format: "cjs", target: "node18" };
// `require`, not `import()`: the editor gives `vscode` to those who require it.
host.supported = { "dynamic-import": false };

rmSync(path.join(root, "dist"), { recursive: true, force: true });
await Promise.all([
  build({ ...host, entryPoints: ["src/extension.ts"], outfile: "dist/extension.js", external: ["vscode", "./client.js"] }),
  build({ ...host, entryPoints: ["src/client.ts"], outfile: "dist/client.js" }),
  build({ ...common, entryPoints: ["src/editing/forms/web/form.ts", "src/editing/forms/web/form.css"], outdir: "dist", target: "es2022" }),
  build({ ...common, entryPoints: { panel: "src/panel/web/page.tsx" }, outdir: "dist", platform: "browser", format: "iife", target: "es2022" }),
]);
