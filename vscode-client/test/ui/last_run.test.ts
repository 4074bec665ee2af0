// UP-74: the state of the last run of the file in front, in the language status and the lens, also after the
// editor and the engine were restarted.
import { beforeAll, test } from "vitest";
import { poems } from "../editor/flows";
import { inEditor } from "../editor/inEditor";
import type { EditorWindow } from "../editor/window";

const editor = inEditor();
let folder: string;
beforeAll(() => {
  const { "haiku.yaml": flow = "", "haiku.answers.yaml": answers = "", ...rest } = poems();
  const named = (name: string) => flow.replace("name: haiku", `name: ${name}`);
  folder = editor.folder({
    ...rest,
    "well.yaml": named("well"),
    "well.answers.yaml": answers,
    "badly.yaml": named("badly"),
    "badly.answers.yaml": "answers:\n  - say: {fail: auth}\n",
    "fresh.yaml": named("fresh"),
  });
});
/** Also one that fails. */
const run = (file: string) => editor.loopLs(folder, "run", file, "--loop", "compose", "--input", "a frog", "--yes", "--json").catch(() => undefined);

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

  const first = await editor.show(folder, "well.yaml");
  await first.told("condition met in iteration 3").waitFor();
  await said(first, /✓ condition met in iteration 3 · (just now|\d+ minutes? ago)/);
  await first.picture("last-run");
  await first.close();
  await editor.stopEngine(folder);

  const next = await editor.show(folder, "well.yaml");
  await said(next, "✓ condition met in iteration 3");
  await next.told("condition met in iteration 3").waitFor();
  await openNext(next, "badly.yaml");
  await said(next, "✗ failed");
  await openNext(next, "fresh.yaml");
  await said(next, "never ran");
}, 900_000); // two sessions, one after the other
