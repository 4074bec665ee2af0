// UP-56: a loop of fifty rounds is stopped by lens, by palette, by the cancel button of its progress, by the
// Testing view and by Ctrl-C in the terminal. All five reach the same code: one fact of the engine, within a
// second, and the run is cancelled.
import { execFile, spawn } from "node:child_process";
import { availableParallelism, loadavg } from "node:os";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { Browser } from "playwright-core";
import { CodeServer, serverProgram } from "../editor/codeServer";
import { endless } from "../editor/flows";
import { EditorWindow, folderOf, removeFolder, startBrowser } from "../editor/window";

let server: CodeServer;
let browser: Browser;
let window: EditorWindow;
let folder: string;
beforeAll(async () => {
  [server, browser] = await Promise.all([CodeServer.start(), startBrowser()]);
  folder = folderOf(endless());
  window = await EditorWindow.open(browser, server, folder, "haiku.yaml");
  await window.lens("Run loop").waitFor();
  // The moment at which a person pressed: what the browser needed to find the button is nobody's answer time.
  await window.page.evaluate('document.addEventListener("mousedown", () => { globalThis.pressedAt = Date.now(); }, true)');
});
afterEach(async ({ task }) => {
  if (task.result?.state === "fail") await window.picture(`failed-${task.name}`);
});
afterAll(async () => {
  await window?.close();
  await browser?.close();
  await server?.stop();
  if (folder) removeFolder(folder);
});

const environment = () => ({ ...process.env, LOOP_LS_DATA_DIR: server.dataDir });

interface Fact {
  kind: string;
  at: string;
  cause?: string;
}

/** What the command line says as JSON; of facts it says one in each line. */
async function loopLs(...words: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(serverProgram(), [...words, "--json"], { cwd: folder, timeout: 60_000, env: environment() });
  return stdout;
}

interface State {
  runId?: string;
  status?: string;
  reason?: string;
}

const newest = async (): Promise<State> => (JSON.parse(await loopLs("runs")) as { runs: State[] }).runs[0] ?? {};
const stateOf = async (runId: string): Promise<State> => (JSON.parse(await loopLs("runs", "status", runId)) as { state: State }).state;
const factsOf = async (runId: string): Promise<Fact[]> =>
  (await loopLs("runs", "events", runId)).trim().split("\n").map((line) => JSON.parse(line) as Fact);

/** The newest run, once it is the one that goes on in its second round. */
async function going(): Promise<string> {
  await expect.poll(async () => (await newest()).status, { timeout: 60_000 }).toBe("running");
  return String((await newest()).runId);
}

async function startByLens(): Promise<string> {
  await window.lens(/Run loop/).click();
  await window.page.locator(".quick-input-widget input").fill("a frog");
  await window.page.keyboard.press("Enter");
  await window.told(/iteration \d+\/50/).waitFor();
  return going();
}

const pressed = (): Promise<number> => window.page.evaluate("globalThis.pressedAt");

/** A second of a machine that is not shared; where others work too, it takes as long as they leave us. */
const second = (): number => 1000 * Math.max(1, (loadavg()[0] ?? 0) / availableParallelism());

/** What the engine's record says of a stop that somebody asked for at a moment. */
async function expectStopped(runId: string, asked: number): Promise<void> {
  await expect.poll(async () => (await stateOf(runId)).status, { timeout: 30_000 }).toBe("cancelled");
  expect((await stateOf(runId)).reason).toBe("user");
  const facts = await factsOf(runId);
  const stops = facts.filter((fact) => fact.kind === "stopping");
  expect(stops).toHaveLength(1);
  expect(stops[0]?.cause).toBe("user");
  expect(Date.parse(stops[0]?.at ?? "") - asked).toBeLessThan(second());
  expect(facts.at(-1)?.kind).toBe("cancelled");
}

test("test_UP_56_stopped_by_the_lens", async () => {
  const runId = await startByLens();
  await window.lens("Stop").click();
  const asked = await pressed();
  await window.told(/stopped in iteration/).waitFor();
  await expectStopped(runId, asked);
});

test("test_UP_56_stopped_by_the_palette", async () => {
  const runId = await startByLens();
  await window.page.keyboard.press("F1");
  await window.page.locator(".quick-input-widget input").fill(">Loop: Stop");
  const line = window.page.locator(".quick-input-list .monaco-list-row", { hasText: /^Loop: Stop(?! All)/ }).first();
  await line.waitFor();
  await line.click();
  const asked = await pressed();
  await window.told(/stopped in iteration/).waitFor();
  await expectStopped(runId, asked);
});

test("test_UP_56_stopped_by_the_cancel_button_of_its_progress", async () => {
  const runId = await startByLens();
  await window.page.locator(".statusbar-item", { hasText: /compose.*iteration/ }).first().click();
  const progress = window.page.locator(".notifications-center .notification-list-item, .notification-toast", { hasText: "compose" }).first();
  await progress.waitFor();
  const cancel = progress.locator(".monaco-button, a.action-label", { hasText: "Cancel" }).first();
  await cancel.waitFor();
  await cancel.click();
  const asked = await pressed();
  await window.told(/stopped in iteration/).waitFor();
  await expectStopped(runId, asked);
});

test("test_UP_56_stopped_by_the_testing_view", async () => {
  await window.command("Testing: Focus on Test Explorer View");
  await window.page.locator(".test-explorer .monaco-list-row", { hasText: "haiku" }).first().locator(".monaco-tl-twistie").click();
  const item = window.page.locator(".test-explorer .monaco-list-row", { hasText: "compose" }).first();
  await item.waitFor();
  await item.hover();
  await item.locator('a.action-label[aria-label="Run Test"]').click();
  await window.page.locator(".quick-input-widget input").fill("a frog");
  await window.page.keyboard.press("Enter");
  await window.told(/iteration \d+\/50/).waitFor();
  const runId = await going();
  const stop = window.page.locator('a.action-label[aria-label^="Cancel Test Run"]').first();
  await stop.waitFor();
  await stop.click();
  const asked = await pressed();
  await window.told(/stopped in iteration/).waitFor();
  await expectStopped(runId, asked);
});

test("test_UP_56_stopped_by_control_c_in_the_terminal", async () => {
  const words = ["run", "haiku.yaml", "--loop", "compose", "--input", "a frog", "--yes"];
  const child = spawn(serverProgram(), words, { cwd: folder, env: environment(), stdio: "ignore" });
  const ended = new Promise<number | null>((resolve) => child.once("exit", resolve));
  const runId = await going();
  await window.told(/iteration \d+\/50/).waitFor();
  const asked = Date.now();
  child.kill("SIGINT");
  expect(await ended).toBe(5);
  await window.told(/stopped in iteration/).waitFor();
  await expectStopped(runId, asked);
});
