// The tree of runs as a person uses it: what runs, what is done with it, and an engine that goes away.
import { beforeAll, expect, test } from "vitest";
import { endless, poems } from "../editor/flows";
import { inEditor } from "../editor/inEditor";
import { RunsView } from "../editor/runsView";
import type { EditorWindow } from "../editor/window";

const editor = inEditor();
let window: EditorWindow;
let folder: string;
let tree: RunsView;
beforeAll(async () => {
  const long = Object.entries(endless()).filter(([name]) => !name.startsWith(".")).map(([name, text]) => [`long/${name}`, text]);
  ({ window, folder } = await editor.open({ ...poems(0.5), ...Object.fromEntries(long) }, "haiku.yaml"));
  tree = new RunsView(window);
  await tree.show();
});

const row = (text: string | RegExp) => tree.row(text);

async function start(): Promise<void> {
  await window.lens("Run loop").click();
  await window.answer("a frog");
}

test("a folder in which nothing ran says so, and a run is there as soon as it begins", async () => {
  await window.page.locator(".sidebar", { hasText: "No loop has run in this folder yet" }).waitFor();
  await start();
  await row(/compose.*\d\/5 ·/).waitFor();
  await row("Running").waitFor();
  await row(/compose.*3\/5 · condition met/).waitFor();
  await row("Done").waitFor();
  await window.picture("views-done");
});

test("a fork asks for the iteration, and two iterations are compared", async () => {
  await tree.choose(row(/compose.*condition met/), "Fork...");
  await window.page.locator(".quick-input-list .monaco-list-row", { hasText: "From iteration 3" }).click();
  await tree.rows("condition met").nth(1).waitFor();
  // Its panel opens when it is shown, and what opens then would close a list that somebody has opened before.
  await window.webview().locator(".head .chip", { hasText: /fork of .* from 3/ }).waitFor();
  await tree.choose(row(/compose.*condition met/), "Compare Iterations...");
  // Rows of a list that was open before are there for a while, and none of them can be clicked.
  const asked = window.page.locator(".quick-input-widget:visible", { hasText: "Compare iterations of compose" });
  await asked.locator(".monaco-list-row", { hasText: /^Iteration 1/ }).click();
  await asked.locator(".monaco-list-row", { hasText: /^Iteration 3/ }).click();
  await window.page.locator(".tab", { hasText: "compose: iteration 1 ↔ 3" }).waitFor();
  await window.page.locator(".monaco-diff-editor .view-line", { hasText: "ACCEPTED" }).first().waitFor();
  await window.picture("views-compare");
});

test("a run is deleted once a person said so, here and in the record", async () => {
  const lines = tree.rows("condition met");
  const before = await lines.count();
  await tree.choose(row(/compose.*condition met/), "Delete Run...");
  await window.page.locator(".monaco-dialog-box", { hasText: "Delete compose from the record?" }).waitFor();
  await window.page.locator(".monaco-dialog-box .monaco-button", { hasText: "Delete" }).click();
  await expect.poll(() => lines.count(), { timeout: 30_000 }).toBe(before - 1);
  expect(JSON.parse(await editor.loopLs(folder, "runs", "--json")).runs).toHaveLength(before - 1);
});

test("UP_73 a run of the terminal, of a file that nobody has open, comes by itself; pause, resume and stop reach it", async () => {
  await editor.loopLs(folder, "run", "long/haiku.yaml", "--loop", "compose", "--input", "a frog", "--detach", "--yes", "--json");
  const running = row(/compose.*\/50/);
  await running.waitFor();
  await window.picture("views-running");
  await tree.act(running, "Pause");
  await row(/compose.*paused/).waitFor();
  await row("Waiting for you").waitFor();
  await window.page.locator(".statusbar-item", { hasText: "compose paused" }).waitFor();
  await tree.act(row(/compose.*paused/), "Resume");
  await row("Running").waitFor();
  await window.page.locator(".statusbar-item", { hasText: /compose \d+\/50/ }).waitFor();
  await tree.act(row(/compose.*\/50/), "Stop");
  await row(/compose.*stopped/).waitFor();
});

test("runs are grouped by file, and filtered while somebody types", async () => {
  await tree.title("Group Runs by File");
  await row("long/haiku.yaml").waitFor();
  await window.picture("views-by-file");
  await tree.title("Filter Runs...");
  await window.page.locator(".quick-input-widget input").fill("stopped");
  await expect.poll(() => tree.rows("condition met").count(), { timeout: 30_000 }).toBe(0);
  await row(/compose.*stopped/).waitFor();
  await window.page.keyboard.press("Escape");
  await row(/compose.*condition met/).waitFor();
});

test("an engine that was stopped is said, with the way out", async () => {
  await editor.stopEngine(folder);
  await row("The engine is not running").waitFor({ timeout: 60_000 });
  await window.picture("views-engine-gone");
  await row("The engine is not running").click();
  await row("The engine is not running").waitFor({ state: "detached", timeout: 60_000 });
  await row(/compose.*condition met/).waitFor();
});
