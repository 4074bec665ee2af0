// UP-74: the state of the last run of the file in front, in the language status and the lens, also after the
// editor and the engine were restarted.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterAll, beforeAll, test } from "vitest";
import type { Browser } from "playwright-core";
import { CodeServer, serverProgram } from "../editor/codeServer";
import { endless, poems } from "../editor/flows";
import { EditorWindow, folderOf, removeFolder, startBrowser } from "../editor/window";

let server: CodeServer;
let browser: Browser;
let folder: string;
beforeAll(async () => {
  [server, browser] = await Promise.all([CodeServer.start(), startBrowser()]);
  const { "haiku.yaml": flow = "", "haiku.answers.yaml": answers = "", ...rest } = poems();
  const never = endless();
  const named = (name: string, text: string) => text.replace("name: haiku", `name: ${name}`);
  folder = folderOf({
    ...rest,
    "well.yaml": named("well", flow),
    "well.answers.yaml": answers,
    "failed.yaml": named("failed", flow),
    "failed.answers.yaml": "answers:\n  - {fail: provider_error}\n",
    "fresh.yaml": named("fresh", flow),
    "going.yaml": named("going", never["haiku.yaml"] ?? ""),
    "going.answers.yaml": never["haiku.answers.yaml"] ?? "",
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
const run = (file: string, ...more: string[]) => loopLs("run", file, "--loop", "compose", "--input", "a frog", "--yes", "--json", ...more);

/** What the language status says of the file in front. */
async function said(window: EditorWindow, words: string | RegExp): Promise<void> {
  await window.page.locator(".statusbar-item#status\\.languageStatus").hover();
  await window.page.locator(".hover-language-status .element", { hasText: words }).first().waitFor();
  await window.page.mouse.move(600, 300);
}

async function show(window: EditorWindow, file: string): Promise<void> {
  await window.page.locator(".explorer-folders-view .monaco-list-row", { hasText: file }).first().dblclick();
  await window.page.locator(".tab.active", { hasText: file }).waitFor();
}

test("test_UP_74_each_file_says_how_its_last_run_went_and_says_it_again_in_the_next_session", async () => {
  await run("well.yaml");
  await run("failed.yaml");
  await run("going.yaml", "--detach");
  await loopLs("runs", "--json");

  const first = await EditorWindow.open(browser, server, folder, "well.yaml");
  await first.told("condition met in iteration 3").waitFor();
  await said(first, /✓ condition met in iteration 3 · (just now|\d+ minutes? ago)/);
  await first.picture("last-run");
  await first.close();
  await loopLs("engine", "stop", "--data-dir", server.dataDir);

  const next = await EditorWindow.open(browser, server, folder, "well.yaml");
  await said(next, "✓ condition met in iteration 3");
  await next.told("condition met in iteration 3").waitFor();
  await show(next, "failed.yaml");
  await said(next, /✗ failed/);
  await next.told("✗ failed").waitFor();
  await show(next, "fresh.yaml");
  await said(next, "never ran");
  await show(next, "going.yaml");
  await said(next, /iteration \d+\/50/);
  await next.told(/iteration \d+\/50/).waitFor();
  await next.close();
  await loopLs("runs", "stop", "all");
});
