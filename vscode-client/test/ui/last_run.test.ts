// UP-74: the state of the last run of the file in front, in the language status and the lens, also after the
// editor and the engine were restarted.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterAll, beforeAll, test } from "vitest";
import type { Browser } from "playwright-core";
import { CodeServer, serverProgram } from "../editor/codeServer";
import { poems } from "../editor/flows";
import { EditorWindow, folderOf, removeFolder, startBrowser } from "../editor/window";

let server: CodeServer;
let browser: Browser;
let folder: string;
beforeAll(async () => {
  [server, browser] = await Promise.all([CodeServer.start(), startBrowser()]);
  const { "haiku.yaml": flow = "", "haiku.answers.yaml": answers = "", ...rest } = poems();
  const named = (name: string) => flow.replace("name: haiku", `name: ${name}`);
  folder = folderOf({
    ...rest,
    "well.yaml": named("well"),
    "well.answers.yaml": answers,
    "badly.yaml": named("badly"),
    "badly.answers.yaml": "answers:\n  - say: {fail: auth}\n",
    "fresh.yaml": named("fresh"),
  });
});
afterAll(async () => {
  await browser?.close();
  await server?.stop();
  if (folder) removeFolder(folder);
});

const loopLs = (...words: string[]) =>
  promisify(execFile)(serverProgram(), words, { cwd: folder, timeout: 60_000, env: { ...process.env, LOOP_LS_DATA_DIR: server.dataDir } }).catch(
    (error: unknown) => error,
  );
const run = (file: string) => loopLs("run", file, "--loop", "compose", "--input", "a frog", "--yes", "--json");

/** What the language status says of the file in front. */
async function said(window: EditorWindow, words: string | RegExp): Promise<void> {
  await window.page.locator(".statusbar-item#status\\.languageStatus").hover();
  await window.page.locator(".hover-language-status .element", { hasText: words }).first().waitFor();
  await window.page.mouse.move(600, 300);
}

async function openNext(window: EditorWindow, file: string): Promise<void> {
  await window.page.keyboard.press("Control+P");
  await window.page.locator(".quick-input-widget input").fill(file);
  await window.page.locator(".quick-input-list .monaco-list-row", { hasText: file }).first().click();
  await window.page.locator(".tab.active", { hasText: file }).waitFor();
}

test("test_UP_74_the_last_run_of_the_file_in_front_is_told_and_told_again_after_a_restart_of_editor_and_engine", async () => {
  await run("well.yaml");
  await run("badly.yaml");

  const first = await EditorWindow.open(browser, server, folder, "well.yaml");
  await first.told("condition met in iteration 3").waitFor();
  await said(first, /✓ condition met in iteration 3 · (just now|\d+ minutes? ago)/);
  await first.picture("last-run");
  await first.close();
  await loopLs("engine", "stop", "--data-dir", server.dataDir);

  const next = await EditorWindow.open(browser, server, folder, "well.yaml");
  await said(next, "✓ condition met in iteration 3");
  await next.told("condition met in iteration 3").waitFor();
  await openNext(next, "badly.yaml");
  await said(next, "✗ failed");
  await openNext(next, "fresh.yaml");
  await said(next, "never ran");
  await next.close();
}, 900_000); // two sessions, one after the other
