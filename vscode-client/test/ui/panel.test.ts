// The panel of a run in a real window: it arrives live, is steered from there, and comes back after a reload.
import { rmSync } from "node:fs";
import * as path from "node:path";
import { expect, test, vi } from "vitest";
import { asking } from "../editor/agent";
import { poems } from "../editor/flows";
import { inEditor } from "../editor/inEditor";
import { slowness } from "../editor/machine";
import { openShown, Panel, runInTerminal } from "../editor/panel";
import { counting, pipeline, talking } from "../editor/panelFlows";
import { Talkative } from "../editor/talkative";
import type { EditorWindow } from "../editor/window";

vi.setConfig({ testTimeout: 300_000 }); // whole stories, on machines that may be busy

// A window that is reloaded on a busy machine may be away for longer than the engine waits for it.
const editor = inEditor({ environment: { RONDOFLOW_TEARDOWN_ON_DISCONNECT: "false" } });

/** Milliseconds in which nothing may be seen in a page, and which it may take to draw a finished run of 200 iterations. */
const [BLANK, OPENED] = [300, 500];

/** Of the page, from its first moment on: until something is painted, until all is there, and its own work for that. */
async function timesOf(panel: Panel): Promise<{ blank: number; there: number; own: number }> {
  return (await panel.frame()).evaluate(() => {
    const at = (name: string) => Math.round(performance.getEntriesByName(name)[0]?.startTime ?? 0);
    const drawing = performance.getEntriesByName("draw").reduce((sum, entry) => sum + entry.duration, 0);
    return { blank: at("first-contentful-paint"), there: at("drawn"), own: drawing };
  });
}

async function started(window: EditorWindow, lens: string, input?: string): Promise<Panel> {
  await window.lens(lens).click();
  if (input !== undefined) {
    await window.page.locator(".quick-input-widget input").fill(input);
    await window.page.keyboard.press("Enter");
  }
  return openShown(window);
}

test("iterations arrive while they happen; two of them are compared", async () => {
  const slow = Math.min(3, slowness()); // it must not end while somebody still looks at how it goes on
  const { window } = await editor.open(pipeline({ delay: 0.6 * slow, pace: 9 / slow }), "iterative_developer.yaml");
  const panel = await started(window, "Run workflow", "slugify titles");
  await panel.row(/iteration 1 of 5/).waitFor();
  await panel.page.locator("[data-live]").first().waitFor();
  await window.picture("panel-live");
  await panel.row(/iteration 2 of 5/).waitFor();
  expect(await panel.ring.getAttribute("aria-label")).toMatch(/loop progress, iteration [23] of 5/);
  await panel.row(/iteration 1 of 5, NO/).waitFor();
  await panel.tab("Graph");
  await panel.page.locator(".graph .node.status-running").first().waitFor();
  await window.picture("panel-graph-live");
  await panel.status("condition met in iteration 3").waitFor();
  expect(await panel.page.locator('[aria-live="polite"]').textContent()).not.toBe("");
  await window.picture("panel-graph-ended");

  await panel.tab("Output");
  await panel.pane.getByText("PASS: all tests covered and documented").waitFor();
  await window.picture("panel-ended");
  await panel.tab("Question to the judge");
  await panel.pane.getByText('Evaluate this condition: "The review says PASS"').waitFor();
  await window.picture("panel-question");
  await panel.tab("Prompt");
  await panel.pane.getByText("Write the function. Plan: 1. Lower the case.").waitFor();
  await panel.pane.locator('.exchange [aria-label="Answer"]').first().waitFor();
  await window.picture("panel-prompt");
  await panel.tab("Events");
  await panel.pane.getByText("iteration started").waitFor();
  await window.picture("panel-events");

  await panel.button("Diff with").click();
  await window.page.locator(".tab", { hasText: "iteration 2 ↔ iteration 3" }).waitFor();
  await window.page.locator(".monaco-diff-editor .modified .view-line", { hasText: "PASS: all tests covered" }).first().waitFor();
  await window.page.locator(".monaco-diff-editor .original .view-line", { hasText: "FAIL: empty input handled" }).first().waitFor();
  await window.picture("panel-diff");
});

test("the panel of a run that is started here opens by itself, and the cursor stays in the file", async () => {
  const { window } = await editor.open({ ...counting(3), ".vscode/settings.json": '{"loopLs.panel.openOnStart": true}\n' }, "count.yaml");
  await window.lens("Run loop").waitFor();
  await window.page.locator(".editor-instance .view-lines").first().click();
  await window.command("Loop: Run This File");
  const panel = new Panel(window);
  await panel.row(/iteration 3 of 3, YES/).waitFor({ timeout: 90_000 });
  await window.page.locator(".editor-instance .monaco-editor.focused").waitFor();

  await panel.tab("Table");
  await panel.pane.getByRole("columnheader", { name: "step" }).waitFor();
  expect(await panel.pane.locator("table.steps tbody tr").count()).toBe(3);
  await window.picture("panel-table");
  await panel.button("Show iteration 1").click();
  await panel.page.locator('[role="treeitem"][aria-selected="true"]', { hasText: "iteration 1 of 3" }).waitFor();
});

test("a start that needs several texts asks for them in one form, which knows them the next time", async () => {
  const files = { ...poems(), "one_draft.answers.yaml": poems()["haiku.answers.yaml"] ?? "" };
  const { window } = await editor.open(files, "one_draft.yaml");
  await window.lens("Run workflow").click();
  const form = window.webview();
  await form.getByLabel("subject").fill("a frog");
  await form.getByLabel("before").fill("nothing");
  await window.picture("input_form");
  await form.getByRole("button", { name: "Run", exact: true }).click();
  await window.lens("Run workflow again").click({ timeout: 90_000 });
  await expect.poll(() => form.getByLabel("subject").inputValue(), { timeout: 30_000 }).toBe("a frog");
  await form.getByLabel("before").focus();
  await window.page.keyboard.press("Enter");
  await window.page.locator("iframe.webview.ready").waitFor({ state: "detached" });
});

test("a run is paused, resumed and stopped from its panel, and is there again after a reload", async () => {
  const { window } = await editor.open(counting(50, { delay: 2 })); // with a file in its address, it would restore nothing
  await window.show("count.yaml");
  const panel = await started(window, "Run loop");
  await panel.row(/iteration \d+ of 50, NO/).first().waitFor();
  await panel.button("Pause").click();
  await panel.status("paused").waitFor();
  await panel.button("Resume").click();
  await panel.status("running").waitFor();

  await Promise.all([window.page.waitForEvent("load"), window.command("Developer: Reload Window")]);
  const again = new Panel(window);
  await again.row(/iteration \d+ of 50, NO/).first().waitFor({ timeout: 90_000 });
  await again.page.getByRole("heading", { name: "steps" }).waitFor();

  await again.button("Stop").click();
  await again.status("stopped").waitFor();
  expect(await again.button("Pause").count()).toBe(0);
  await again.button("Fork").waitFor();
  await window.picture("panel-stopped");
});

test("a person approves from the panel, and is heard with feedback", async () => {
  const { window } = await editor.open(asking("A pond. A frog. A sound.", "Snow on the pond; the frog sleeps."), "fixer.assistant.yaml");
  await window.lens("Run loop").click();
  await window.page.locator(".quick-input-widget input").fill("a poem about a frog");
  await window.page.keyboard.press("Enter");
  await window.page.locator(".monaco-dialog-box").getByRole("button", { name: "Allow and run" }).click();
  const panel = await openShown(window);
  await panel.page.getByText("Iteration 1 waits for your approval.").waitFor();
  await window.picture("panel-approval");
  expect(await panel.button("Ask for changes").isEnabled()).toBe(false);
  await panel.page.getByLabel("Feedback").fill("more snow");
  await panel.button("Ask for changes").click();
  await panel.page.getByText("Iteration 2 waits for your approval.").waitFor();
  expect(await panel.page.getByLabel("Feedback").inputValue()).toBe("");
  await panel.button("Approve").click();
  await panel.status("approved in iteration 2").waitFor();
  await panel.pane.getByText("Snow on the pond").waitFor();
});

test("test_UP_85_the_panel_needs_no_port_and_no_network", async () => {
  const hostile = `<img src=x onerror="document.title='caught'"> </script><script>document.title='caught'</script> <b>bold</b>`;
  const { folder, window } = await editor.open(counting(2, { say: hostile }), "count.yaml");
  const asked: string[] = [];
  await runInTerminal(editor.server, folder, "count.yaml", "--loop", "steps");
  window.page.context().on("request", (request) => asked.push(request.url()));
  const panel = await openShown(window); // a run of the terminal: this window did not start it
  await panel.pane.getByText(hostile).waitFor();
  const frame = await panel.frame();
  const found = await frame.evaluate(() => ({
    policy: document.querySelector("meta[http-equiv]")?.getAttribute("content") ?? "",
    made: document.querySelectorAll("#app img, #app script, #app b:not(.meter b):not(.burn b)").length,
    title: document.title,
    resources: performance.getEntriesByType("resource").map((entry) => entry.name),
  }));
  expect(found.policy).toContain("default-src 'none'");
  expect(found.policy).not.toMatch(/unsafe|connect-src|https?:\/\/(localhost|127)/);
  expect([found.made, found.title]).toEqual([0, "Run"]);
  expect(found.resources.every((name) => /\/dist\/panel\.(js|css)$/.test(name))).toBe(true);
  const refused = await frame.evaluate(() => fetch("http://127.0.0.1:1/").then(() => "reached", (error: Error) => error.name));
  expect(refused).toBe("TypeError");
  const own = new URL(window.page.url()).host;
  const others = asked.map((url) => new URL(url)).filter((url) => url.protocol.startsWith("http") && url.host !== own);
  expect(others.filter((url) => ["127.0.0.1", "localhost"].includes(url.hostname))).toEqual([]);
});

test("a finished run of 200 iterations is there at once, and a thousand scroll", async () => {
  const { folder, window } = await editor.open(counting(200), "count.yaml");
  await runInTerminal(editor.server, folder, "count.yaml", "--loop", "steps");
  const lens = window.lens("Open run");
  await lens.waitFor({ timeout: 90_000 });
  const panel = new Panel(window);
  const before = Date.now();
  await lens.click();
  await panel.row(/iteration 200 of 200, YES/).waitFor();
  const ms = Date.now() - before;
  const { blank, there, own } = await timesOf(panel);
  console.log(`a finished run of 200 iterations: ${ms} ms from the click to the last row; the page: ${blank} ms blank, all there after ${there} ms, ${Math.round(own)} ms of work`);
  expect(ms).toBeLessThan(15_000);
  expect(blank).toBeGreaterThan(0);
  expect(blank).toBeLessThan(BLANK * slowness());
  expect(own).toBeGreaterThan(0);
  expect(own).toBeLessThan(OPENED * slowness());
  expect(await panel.page.getByRole("treeitem").count()).toBeLessThan(60);
  await window.picture("panel-200");
  await panel.row(/iteration 200/).focus();
  await window.page.keyboard.press("Home");
  await panel.row(/^loop steps/).waitFor();
  await window.page.keyboard.press("ArrowDown");
  await panel.row(/^iteration 1 of 200/).waitFor();
  expect(await panel.row(/^iteration 1 of 200/).getAttribute("aria-selected")).toBe("true");
  expect(await panel.row(/^iteration 1 of 200/).getAttribute("aria-setsize")).toBe("201");
  await window.page.keyboard.press("End");
  await panel.row(/iteration 200 of 200, YES/).waitFor();
  expect(await panel.page.getByRole("treeitem").count()).toBeLessThan(60);
});

test("a prompt is edited next to its answer, and a new run begins there with it", async () => {
  const { folder, window } = await editor.open(counting(2), "count.yaml");
  await runInTerminal(editor.server, folder, "count.yaml", "--loop", "steps");
  const panel = await openShown(window);
  await panel.row(/iteration 2 of 2/).click();
  await panel.tab("Prompt");
  await panel.button("Edit and run from here").first().click();
  const box = panel.page.getByLabel(/^New prompt of /);
  expect(await box.inputValue()).not.toBe("");
  await box.fill("Count in verse.");
  await window.picture("panel-edited-prompt");
  await panel.button("Run from here").last().click();
  await expect.poll(() => editor.loopLs(folder, "runs", "status"), { timeout: 60_000 }).toContain("with another prompt");
  const asked = await editor.loopLs(folder, "runs", "prompts");
  expect(asked.match(/Count in verse\./g)).toHaveLength(1);
  await window.page.locator(".tab", { hasText: "steps" }).nth(1).waitFor();
});

test("an output of ten megabytes is cut, and the editor shows all of it", async () => {
  const model = await Talkative.start(10 * 1024 * 1024);
  const { folder, window } = await editor.open(talking(model.address), "count.yaml");
  await runInTerminal(editor.server, folder, "count.yaml", "--loop", "steps");
  const panel = await openShown(window);
  await panel.pane.getByText(/The first 60k characters of 10\.5M characters/).first().waitFor();
  expect((await panel.pane.locator("pre.words").first().textContent())?.length).toBe(60_000);
  await window.picture("panel-long-output");
  await panel.pane.getByRole("button", { name: "Show all in editor" }).first().click();
  await window.page.locator(".tab", { hasText: "1 output.md" }).waitFor();
  await window.line("word 0").waitFor({ timeout: 60_000 });
  await model.stop();
});

test("a file that is deleted while its loop runs, and an engine that is gone, are said", async () => {
  const { folder, window } = await editor.open(counting(60, { delay: 2 }), "count.yaml");
  const panel = await started(window, "Run loop");
  await panel.row(/iteration \d+ of 60, NO/).first().waitFor();
  rmSync(path.join(folder, "count.yaml"));
  await panel.button("count.yaml").click();
  await window.message("The file of this run no longer exists.").waitFor();
  await editor.stopEngine(folder);
  await panel.status("interrupted: lost the connection to the engine").waitFor();
  await window.picture("panel-engine-gone");
  await panel.button("Resume").click();
  await panel.status("running").waitFor();
  await panel.button("Stop").click();
  await panel.status("stopped").waitFor();
});
