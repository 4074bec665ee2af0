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
  folder = folderOf({ ...rest, "well.yaml": flow.replace("name: haiku", "name: well"), "well.answers.yaml": answers });
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

test("test_UP_74_the_last_run_of_the_file_in_front_is_told_and_told_again_after_a_restart_of_editor_and_engine", async () => {
  await run("well.yaml");

  const first = await EditorWindow.open(browser, server, folder, "well.yaml");
  await first.told("condition met in iteration 3").waitFor();
  await said(first, /✓ condition met in iteration 3 · (just now|\d+ minutes? ago)/);
  await first.picture("last-run");
  await first.close();
  await loopLs("engine", "stop", "--data-dir", server.dataDir);

  const next = await EditorWindow.open(browser, server, folder, "well.yaml");
  await said(next, "✓ condition met in iteration 3");
  await next.told("condition met in iteration 3").waitFor();
  await next.close();
}, 900_000); // two sessions, one after the other
