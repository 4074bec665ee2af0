// UP-56: a loop of fifty rounds is stopped by lens, by palette, by the cancel button of its progress, by the
// Testing view and by Ctrl-C in the terminal. All five reach the same code: one fact of the engine, within a
// second, and the run is cancelled.
import { spawn } from "node:child_process";
import { beforeAll, expect, test } from "vitest";
import { serverProgram } from "../editor/codeServer";
import { endless } from "../editor/flows";
import { inEditor } from "../editor/inEditor";
import { slowness } from "../editor/machine";
import type { EditorWindow } from "../editor/window";

const editor = inEditor();
let window: EditorWindow;
let folder: string;
beforeAll(async () => {
  ({ window, folder } = await editor.open(endless(), "haiku.yaml"));
  await window.lens("Run loop").waitFor();
  // The moment at which a person pressed: what the browser needed to find the button is nobody's answer time.
  await window.page.evaluate('document.addEventListener("mousedown", () => { globalThis.pressedAt = Date.now(); }, true)');
});

interface Fact {
  kind: string;
  at: string;
  cause?: string;
}

/** What the command line says as JSON; of facts it says one in each line. */
const loopLs = (...words: string[]): Promise<string> => editor.loopLs(folder, ...words, "--json");

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
const second = (): number => 1000 * slowness();

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
  const child = spawn(serverProgram(), words, { cwd: folder, env: { ...process.env, LOOP_LS_DATA_DIR: editor.server.dataDir }, stdio: "ignore" });
  const ended = new Promise<number | null>((resolve) => child.once("exit", resolve));
  const runId = await going();
  await window.told(/iteration \d+\/50/).waitFor();
  const asked = Date.now();
  child.kill("SIGINT");
  expect(await ended).toBe(5);
  await window.told(/stopped in iteration/).waitFor();
  await expectStopped(runId, asked);
});
