// The panel of a run in a real window: it arrives live, is steered from there, and comes back after a reload.
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Browser } from "playwright-core";
import { CodeServer } from "../editor/codeServer";
import { Panel } from "../editor/panel";
import { pipeline } from "../editor/panelFlows";
import { EditorWindow, folderOf, removeFolder, startBrowser } from "../editor/window";

let server: CodeServer;
let browser: Browser;
beforeAll(async () => {
  [server, browser] = await Promise.all([CodeServer.start(), startBrowser()]);
});
afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

async function started(files: Record<string, string>, file: string, lens: string, input?: string): Promise<[EditorWindow, string]> {
  const folder = folderOf(files);
  const window = await EditorWindow.open(browser, server, folder, file);
  await window.lens(lens).click();
  if (input !== undefined) {
    await window.page.locator(".quick-input-widget input").fill(input);
    await window.page.keyboard.press("Enter");
  }
  return [window, folder];
}

test("iterations arrive while they happen, with ring, verdicts, live text and graph", async () => {
  const [window, folder] = await started(pipeline({ delay: 0.4, pace: 9 }), "iterative_developer.yaml", "Run workflow", "slugify titles");
  await window.lens("Open run").click();
  const panel = new Panel(window);
  await panel.row(/iteration 1 of 5/).waitFor();
  await panel.page.locator("[data-live]").first().waitFor();
  await window.picture("panel-live");
  await panel.row(/iteration 2 of 5/).waitFor();
  expect(await panel.ring.getAttribute("aria-label")).toMatch(/loop progress, iteration [23] of 5/);
  await panel.row(/iteration 1 of 5, NO/).waitFor();
  await panel.tab("Graph");
  await panel.page.locator(".graph .node").first().waitFor();
  await window.picture("panel-graph-live");
  await panel.status("condition met in iteration 3").waitFor();
  await panel.tab("Output");
  await panel.pane.getByText("PASS: all tests covered and documented").waitFor();
  await window.picture("panel-ended");
  await panel.tab("Question to the judge");
  await panel.pane.getByText('Evaluate this condition: "The review says PASS"').waitFor();
  await window.picture("panel-question");
  await panel.tab("Prompt");
  await panel.pane.getByText("Write the function. Plan: 1. Lower the case.").waitFor();
  await panel.tab("Events");
  await panel.pane.getByText("iteration started").waitFor();
  await window.picture("panel-events");
  await window.close();
  removeFolder(folder);
});
