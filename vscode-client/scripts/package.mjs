// The .vsix: what `vsce package` makes of this folder. A warning is a fault, and so is a file too large.
import { spawnSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");
const LIMIT = 5_000_000;

const read = (file) => JSON.parse(readFileSync(path.join(root, file), "utf8"));
const [extension, wheel] = [read("package.json").version, read("wheel/wheel.json").version];
if (extension !== wheel) throw new Error(`package.json says version ${extension}, the server in wheel/ is ${wheel}`);

// The product has no public repository yet that a manifest could name, and pictures are shown from the package.
const options = ["--no-dependencies", "--allow-missing-repository", "--no-rewrite-relative-links", "-o", "loop-ls.vsix"];
const vsce = path.join(root, "node_modules/@vscode/vsce/vsce");
const made = spawnSync(process.execPath, [vsce, "package", ...options], { cwd: root, encoding: "utf8", timeout: 120_000 });
const said = `${made.stdout}${made.stderr}`;
process.stdout.write(said);
if (made.status !== 0) throw new Error("vsce package failed; see above");
if (/\bwarn/i.test(said)) throw new Error("vsce package warns; see above");
const { size } = statSync(path.join(root, "loop-ls.vsix"));
if (size > LIMIT) throw new Error(`loop-ls.vsix is larger than ${LIMIT} bytes: ${size}`);
