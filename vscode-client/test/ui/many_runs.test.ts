// Five hundred runs in one folder: the tree is there at once, shows a page, finds an old one, and stays quick.
import { beforeAll, expect, test } from "vitest";
import { poems } from "../editor/flows";
import { inEditor } from "../editor/inEditor";
import { record } from "../editor/manyRuns";
import { Panel } from "../editor/panel";
import { RunsView } from "../editor/runsView";
import type { EditorWindow } from "../editor/window";

const RUNS = 500;
/** What a person still calls at once, on a machine that others use too. */
const SOON = 10_000;

const editor = inEditor();
let window: EditorWindow;
let tree: RunsView;
beforeAll(async () => {
  const folder = editor.folder(poems(0));
  await record(editor, folder, RUNS, { 431: "the_old_one" });
  window = await editor.show(folder, "haiku.yaml");
  await window.lens("Run loop again").waitFor();
  tree = new RunsView(window);
});

async function within(limit: number, what: string, act: () => Promise<void>): Promise<void> {
  const before = Date.now();
  await act();
  const ms = Date.now() - before;
  console.log(`${RUNS} runs: ${what} after ${ms} ms`);
  expect(ms, what).toBeLessThan(limit);
}

test("the tree shows the newest of 500 runs, and how many there are more", async () => {
  await within(SOON, "the first page", async () => {
    await tree.show();
    await tree.row(/compose.*imported · 3\/5/).waitFor();
  });
  await tree.row(/Done ?100\+/).waitFor();
  await window.picture("many-runs");
  await tree.rows("compose").nth(20).waitFor();
  await window.page.locator(".sidebar .monaco-list").first().focus();
  await window.page.keyboard.press("End");
  await tree.row(/Show more/).waitFor();
  expect(await tree.row("the_old_one").count()).toBe(0);
  await window.picture("many-runs-end");
});

test("a filter finds one that is far below the first page", async () => {
  await tree.title("Filter Runs...");
  await within(SOON, "the old one", async () => {
    await window.page.locator(".quick-input-widget input").fill("the_old");
    await tree.row("the_old_one").waitFor();
  });
  await window.page.keyboard.press("Enter");
  await expect.poll(() => tree.rows("compose").count(), { timeout: 30_000 }).toBe(0);
  await window.picture("many-runs-filtered");
  await within(SOON, "its panel", async () => {
    await tree.row("the_old_one").click();
    await new Panel(window).row(/iteration 3 of 5, YES/).waitFor();
  });
  await tree.title("Clear the Filter of Runs");
  await tree.rows("compose").nth(20).waitFor();
});

test("a run that begins is on top while 500 others are listed", async () => {
  await window.page.locator(".tab", { hasText: "haiku.yaml" }).click();
  await window.lens("Run loop again").click();
  await window.answer("one more");
  await tree.row(/^compose ?3\/5 · condition met/).waitFor(); // the others were imported
  await window.told("condition met in iteration 3").waitFor();
});
