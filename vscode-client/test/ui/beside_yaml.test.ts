// With the server of the YAML extension beside ours, a workflow file shows nothing twice: after the offer is taken
// for the workspace, for the file alone, and nothing changes without a yes.
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { build } from "esbuild";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Browser } from "playwright-core";
import { CodeServer, serverProgram } from "../editor/codeServer";
import { poems } from "../editor/flows";
import { EditorWindow, folderOf, removeFolder, startBrowser } from "../editor/window";

const HOME = path.resolve(__dirname, "../editor/yamlExtension");
const ROOT = path.resolve(__dirname, "../..");
const WORKFLOW = poems()["haiku.yaml"]!;
/** A fault of the text, which both servers see, and one of the loop, which only ours sees. */
const FAULTY = `${WORKFLOW.replace("max_iterations: 5", "max_iterations: 500000")}name: again\n`;
const FAULTY_FILES = { ...poems(), "faulty.yaml": FAULTY };
const SOUND_FILES = {
  ...poems(),
  "services.yaml": "services:\n  web: {image: nginx}\n  web: {image: nginx}\n",
  "fixer.assistant.yaml": "name: Fixer\npersona: p\npersonna: q\n",
};

function yamlServer(): string[] {
  const server = process.env.LOOP_LS_YAML_SERVER;
  const node = process.env.LOOP_LS_NODE;
  if (server && node && existsSync(server)) return [node, server, "--stdio"];
  throw new Error("LOOP_LS_YAML_SERVER names no file: run .ci/setup-editors and source the env.sh that it leaves");
}

/** The stand-in as a package that the editor installs. */
async function packed(folder: string): Promise<string> {
  await build({ entryPoints: [path.join(HOME, "extension.ts")], outfile: path.join(folder, "extension.js"), bundle: true, external: ["vscode"], platform: "node", format: "cjs", logLevel: "error" });
  execFileSync("cp", [path.join(HOME, "package.json"), folder]);
  const vsix = path.join(folder, "yaml.vsix");
  const vsce = path.join(ROOT, "node_modules/@vscode/vsce/vsce");
  execFileSync(process.execPath, [vsce, "package", "--no-dependencies", "--allow-missing-repository", "--skip-license", "-o", vsix], { cwd: folder, stdio: "pipe" });
  return vsix;
}

let server: CodeServer;
let browser: Browser;
let packages: string;
const folders: string[] = [];
beforeAll(async () => {
  packages = mkdtempSync(path.join(tmpdir(), "yaml-"));
  const vsix = await packed(packages);
  const machine = { "loopLs.server.command": [serverProgram(), "serve"], "yaml.server": yamlServer() };
  [server, browser] = await Promise.all([CodeServer.start({ machine, more: [vsix] }), startBrowser()]);
});
afterAll(async () => {
  await browser?.close();
  await server?.stop();
  for (const folder of folders) removeFolder(folder);
  rmSync(packages, { recursive: true, force: true });
});

async function opened(files: Record<string, string>, file: string): Promise<{ window: EditorWindow; folder: string }> {
  const folder = folderOf(files);
  folders.push(folder);
  const window = await EditorWindow.open(browser, server, folder, file);
  window.page.setDefaultTimeout(80_000); // two servers start for it
  return { folder, window };
}

/** Findings of the Problems view, without the places that belong to one. */
const FINDING = '.markers-panel .monaco-list-row[aria-level="2"]';
const listed = (window: EditorWindow, text: string | RegExp) => window.page.locator(FINDING, { hasText: text });

/** What it lists: the sentence that a screen reader gets, with message, place and source. */
const problems = (window: EditorWindow): Promise<string[]> =>
  window.page.locator(FINDING).evaluateAll((rows) => rows.map((row) => row.getAttribute("aria-label") ?? ""));

/** Where messages stay; as a toast, one goes after some seconds, clicked or not. */
async function answer(window: EditorWindow, button: string): Promise<void> {
  await window.command("Notifications: Show Notifications");
  const message = window.page.locator(".notifications-center .notification-list-item", { hasText: "Leave them to Loop?" });
  await message.getByRole("button", { name: button }).click();
}

test("nothing is changed before a yes; then the workspace is quiet and ours goes on", async () => {
  const { window, folder } = await opened(FAULTY_FILES, "faulty.yaml");
  await window.command("Problems: Focus on Problems View");
  await listed(window, "Unable to load schema").waitFor(); // how it is without us
  const offer = window.message("Leave them to Loop?");
  await offer.waitFor();
  expect(existsSync(path.join(folder, ".vscode"))).toBe(false);
  await window.picture("beside_yaml_offer");
  await answer(window, "Do It");
  await window.page.locator(".quick-input-list .monaco-list-row", { hasText: "All YAML Files of This Workspace" }).click();
  await listed(window, "Unable to load schema").waitFor({ state: "detached" }).finally(() => window.picture("beside_yaml_quiet"));
  await listed(window, "loop-ls").nth(1).waitFor();
  const shown = await problems(window);
  expect(shown.filter((each) => each.includes("generated by YAML"))).toEqual([]);
  expect(shown.length).toBeGreaterThan(1);
  const places = shown.map((each) => /line \d+ and character \d+/.exec(each)?.[0]);
  expect(new Set(places).size).toBe(places.length); // no place has two findings
  await window.picture("beside_yaml_quiet");
  const settings = (): unknown => JSON.parse(readFileSync(path.join(folder, ".vscode/settings.json"), "utf8"));
  const all = { "yaml.validate": false, "yaml.hover": false, "yaml.completion": false, "yaml.format.enable": false };
  await expect.poll(settings, { timeout: 60_000 }).toEqual(all); // written one after the other
  await window.close();
}, 300_000);

test("for one file, a line of its own keeps the YAML extension at work elsewhere", async () => {
  const { window, folder } = await opened(SOUND_FILES, "haiku.yaml");
  await window.command("Problems: Focus on Problems View");
  await listed(window, "Unable to load schema").waitFor();
  await window.message("Leave them to Loop?").waitFor();
  await answer(window, "Do It");
  await window.page.locator(".quick-input-list .monaco-list-row", { hasText: "This File Only" }).click();
  await listed(window, "Unable to load schema").waitFor({ state: "detached" });
  expect(existsSync(path.join(folder, ".vscode"))).toBe(false);
  await window.show("services.yaml");
  await listed(window, /keys must be unique/i).first().waitFor().finally(() => window.picture("beside_yaml_file"));
  await window.show("fixer.assistant.yaml"); // has a schema of ours there, which explains and finds no fault
  await listed(window, "personna").first().waitFor();
  expect(await listed(window, "personna").count()).toBe(1);
  await window.close();
}, 300_000);
