// Whatever a machine is like: the server starts by itself, or people read what is missing and the way out.
import { existsSync, rmSync } from "node:fs";
import * as path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type CodeServer, type Options, serverProgram } from "../editor/codeServer";
import { poems } from "../editor/flows";
import { inEditor } from "../editor/inEditor";
import { onlyPython, runningServer, script } from "../editor/machine";
import type { EditorWindow } from "../editor/window";

/** Long enough for a download on a busy machine. */
const SET_UP = 420_000;
const LONG = { timeout: 600_000 };

let searchPath: string;
beforeAll(() => {
  searchPath = onlyPython();
});
afterAll(() => rmSync(searchPath, { recursive: true, force: true }));
const editor = inEditor(null);

const codeServer = (options: Options = {}): Promise<CodeServer> =>
  editor.serve({ ...options, environment: { PATH: searchPath, ...options.environment } });

/** A workflow with one flaw, so that a squiggle says that the server is there. */
const FLAWED = { ...poems(), "haiku.yaml": poems()["haiku.yaml"]?.replace("max_iterations", "max_iteration") ?? "" };
const WARNED = poems()["haiku.yaml"]?.replace("The critic says", "{{loop.output}} says") ?? "";

async function open(server: CodeServer, settings?: object, files: Record<string, string> = FLAWED): Promise<EditorWindow> {
  const all = settings ? { ...files, ".vscode/settings.json": JSON.stringify(settings) } : files;
  return (await editor.open(all, "haiku.yaml", server)).window;
}

/** What a lens says, whether it can be clicked or not. */
const lens = (window: EditorWindow, text: string | RegExp) => window.page.locator(".codelens-decoration", { hasText: text }).first();
const squiggle = (window: EditorWindow) => window.page.locator(".squiggly-error, .squiggly-warning").first();

test("with only Python on the path, the first start sets everything up", { timeout: SET_UP + 120_000 }, async () => {
  const server = await codeServer({ machine: {} });
  const window = await open(server);
  await window.message("Loop: setting up its server").waitFor();
  await window.message(/its packages/).waitFor({ timeout: 120_000 });
  await window.picture("start-setting-up");
  await squiggle(window).waitFor({ timeout: SET_UP });
  expect(await window.page.locator(".notification-toast .codicon-error").count()).toBe(0);
  await window.picture("start-set-up");

  await window.command("Loop: Doctor");
  const page = window.webview();
  await page.getByText("No problems found.").waitFor();
  await page.getByText(/globalStorage\/loop-ls\.loop-ls\/server\/.*-m loop_ls serve/).first().waitFor();
  await window.picture("start-doctor");

  const again = await open(server);
  await squiggle(again).waitFor();
  expect(await again.page.getByText("setting up its server").count()).toBe(0);
});

test("where nothing can be set up, the sentence says why and what to do", LONG, async () => {
  const nowhere = { PIP_INDEX_URL: "http://127.0.0.1:9/simple", PIP_EXTRA_INDEX_URL: "", PIP_FIND_LINKS: "", PIP_CONFIG_FILE: "/dev/null" };
  const server = await codeServer({ machine: {}, environment: nowhere });
  const old = script(path.join(searchPath, "python3.9"), `echo '{"executable": "/opt/python3.9/bin/python3", "version": [3, 9, 2], "able": true}'`);

  const tooOld = await open(server, { "loopLs.server.python": old });
  await tooOld.message("Python 3.9.2 (/opt/python3.9/bin/python3) is too old for Loop's server, which needs Python 3.11 or newer.").waitFor();
  await tooOld.page.locator(".notification-toast").getByText("Choose Python").waitFor();
  await tooOld.picture("start-too-old");

  const wrong = await open(server, { "loopLs.server.command": ["/nope/loop-ls", "serve"] });
  await wrong.message("/nope/loop-ls (setting loopLs.server.command) does not exist.").waitFor();
  await wrong.picture("start-wrong-path");

  // the way out takes the setting away; what comes next fails, too: no package can be fetched
  await wrong.page.locator(".notification-toast").getByText("Use the Built-in Server").click();
  await wrong.message("127.0.0.1 cannot be reached, so Loop's server could not be set up").waitFor({ timeout: 90_000 });
  await wrong.picture("start-unreachable");
  await wrong.page.locator(".notification-toast").getByText("Show Log").click();
  await wrong.page.locator(".part.panel .view-line", { hasText: "NewConnectionError" }).first().waitFor();
});

test("a server that is killed comes back, and the run that went on is shown to its end", LONG, async () => {
  const server = await codeServer();
  const window = await open(server, undefined, { ...poems(1.5), "haiku.yaml": WARNED });
  await squiggle(window).waitFor();
  await window.lens("Run loop").click();
  await window.page.locator(".quick-input-widget input").fill("a frog");
  await window.page.keyboard.press("Enter");
  await lens(window, /iteration 1\/5/).waitFor();

  const first = await runningServer(server.pid);
  process.kill(first, "SIGKILL");
  await squiggle(window).waitFor({ state: "detached" });
  await runningServer(server.pid, first);
  await squiggle(window).waitFor();
  await lens(window, "condition met in iteration 3").waitFor({ timeout: 60_000 });
  await window.picture("start-killed");
  expect(await window.page.locator(".notification-toast .codicon-error").count()).toBe(0);
});

test("a folder that is not trusted is checked, nothing of it is started, and the refusal says how to trust it", LONG, async () => {
  const server = await codeServer({ trust: true });
  const mark = path.join(searchPath, "mark");
  const own = script(path.join(searchPath, "own-server"), `: > ${mark}`, `exec ${serverProgram()} "$@"`);
  const window = await open(server, { "loopLs.server.command": [own, "serve"] }, { ...poems(), "haiku.yaml": WARNED });
  await window.page.getByText("Restricted Mode", { exact: true }).waitFor();
  await squiggle(window).waitFor();
  await window.lens("Run loop").click();
  await window.message("This workspace is not trusted, so nothing in it can run.").waitFor();
  await window.picture("start-not-trusted");
  expect(existsSync(mark)).toBe(false);

  await window.page.locator(".notification-toast").getByText("Manage Trust").click();
  await window.page.locator(".workspace-trust-editor").getByText("Trust", { exact: true }).first().click();
  await window.page.getByText("Restricted Mode", { exact: true }).waitFor({ state: "detached" });
  await expect.poll(() => existsSync(mark), { timeout: 60_000 }).toBe(true); // now it is the folder's own
});

test("the doctor says what is wrong and how to mend it", LONG, async () => {
  const server = await codeServer({ machine: { "loopLs.server.command": ["/nope/loop-ls", "serve"] } });
  const window = await open(server);
  await window.message("/nope/loop-ls (setting loopLs.server.command) does not exist.").waitFor();
  await window.command("Loop: Doctor");
  const page = window.webview();
  await page.getByText("/nope/loop-ls (setting loopLs.server.command) does not exist.").first().waitFor();
  await page.getByText("Fix: Correct the setting loopLs.server.command, or clear it").waitFor();
  expect(await page.getByText("No problems found.").count()).toBe(0);
  await window.picture("start-doctor-wrong");
});

test("an assistant in JSON is checked by the editor's own schema only where no server does", LONG, async () => {
  const files = { "fixer.assistant.json": '{"name": "Fixer", "persona": "You repair.", "maxIterations": "many"}\n' };
  const findings = async (machine: Record<string, unknown>): Promise<string[]> => {
    const window = (await editor.open(files, "fixer.assistant.json", await codeServer({ machine }))).window;
    await squiggle(window).waitFor();
    await window.command("Problems: Focus on Problems View");
    const rows = window.page.locator('.markers-panel .monaco-list-row[aria-level="2"]');
    await rows.first().waitFor();
    await window.picture(`start-json-${Object.keys(machine).length}-${machine["loopLs.server.command"] === MISSING ? "without" : "with"}`);
    return rows.evaluateAll((all) => all.map((each) => each.getAttribute("aria-label") ?? ""));
  };
  const MISSING = ["/nope/loop-ls", "serve"];
  const without = await findings({ "loopLs.server.command": MISSING });
  expect(without.filter((each) => /string|integer|type/i.test(each))).not.toEqual([]);
  expect(without.filter((each) => each.includes("loop-ls"))).toEqual([]);
  const withServer = await findings({ "loopLs.server.command": [serverProgram(), "serve"] });
  expect(withServer).toHaveLength(1);
  expect(withServer[0]).toContain("loop-ls");
});
