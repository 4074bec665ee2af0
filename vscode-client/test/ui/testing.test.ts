// The Testing view: what can be started is listed, iterations are children, the verdict stands on the line of
// the condition.
import { writeFileSync } from "node:fs";
import * as path from "node:path";
import { beforeAll, expect, test } from "vitest";
import type { Locator } from "playwright-core";
import { endless, poems } from "../editor/flows";
import { inEditor } from "../editor/inEditor";
import { chosen } from "../editor/runsView";
import type { EditorWindow } from "../editor/window";

const editor = inEditor();
let window: EditorWindow;
let folder: string;
beforeAll(async () => {
  const limited = endless(0.1)["haiku.yaml"]?.replace("name: haiku", "name: never").replace("max_iterations: 50", "max_iterations: 2") ?? "";
  const answers = endless(0.1)["haiku.answers.yaml"] ?? "";
  ({ window, folder } = await editor.open({ ...poems(0.3), "never.yaml": limited, "never.answers.yaml": answers }, "haiku.yaml"));
  await window.lens("Run loop").waitFor();
  await window.command("Testing: Focus on Test Explorer View");
});

interface State {
  status: string;
  mock?: boolean;
  source?: { kind: string; iteration?: number };
}
/** The newest first. */
const runs = async (): Promise<State[]> => JSON.parse(await editor.loopLs(folder, "runs", "--json")).runs;

const item = (text: string | RegExp): Locator => window.page.locator(".test-explorer .monaco-list-row", { hasText: text }).first();

/** Waits until an item has an icon. */
async function result(text: string, state: "passed" | "failed" | "skipped"): Promise<void> {
  const icon = window.page.locator(`[class*="testing-${state}"]`);
  await window.page.locator(".test-explorer .monaco-list-row", { hasText: text }).filter({ has: icon }).first().waitFor();
}

async function run(on: Locator): Promise<void> {
  await on.hover();
  await on.locator('a.action-label[aria-label="Run Test"]').click();
  await window.page.locator(".quick-input-widget input").fill("a frog");
  await window.page.keyboard.press("Enter");
}

/** Answers the question before runs that call models. */
async function mayRun(question: string): Promise<void> {
  const dialog = window.page.locator(".monaco-dialog-box", { hasText: question });
  await dialog.filter({ hasText: "At most" }).waitFor();
  await window.picture("testing-asked");
  await dialog.locator(".monaco-button", { hasText: "Run" }).click();
}

async function expand(on: Locator): Promise<void> {
  if ((await on.getAttribute("aria-expanded")) !== "true") await on.locator(".monaco-tl-twistie").click();
}

test("workflows and their loops are listed, and what is written on disk comes by itself", async () => {
  await item("haiku").waitFor();
  await item("one_draft").waitFor();
  await expand(item("haiku"));
  await item("compose").waitFor();
  writeFileSync(path.join(folder, "later.yaml"), (poems()["one_draft.yaml"] ?? "").replace("name: one_draft", "name: later"));
  await item("later").waitFor();
});

test("a file in which something can be run has a sign behind its name, and no other file has", async () => {
  await window.command("File: Focus on Files Explorer");
  const file = (name: string) => window.page.locator(".explorer-folders-view .monaco-list-row", { hasText: name }).first();
  const sign = (name: string) => file(name).locator(".label-name, .monaco-icon-label").first().evaluate((label) => getComputedStyle(label, "::after").content);
  await expect.poll(() => sign("haiku.yaml"), { timeout: 30_000 }).toContain("↻");
  expect(await sign("haiku.answers.yaml")).not.toContain("↻");
  await window.picture("testing-signs");
  await window.command("Testing: Focus on Test Explorer View");
});

test("a run that was started by its lens is shown there too: iterations are its children", async () => {
  await window.lens("Run loop").click();
  await window.page.locator(".quick-input-widget input").fill("a frog");
  await window.page.keyboard.press("Enter");
  await result("compose", "passed");
  await expand(item("compose"));
  await result("iteration 1", "skipped");
  await result("iteration 2", "skipped");
  await result("iteration 3", "passed");
});

test("a loop that reached its limit failed", async () => {
  await window.command("File: Focus on Files Explorer");
  await window.page.locator(".explorer-folders-view .monaco-list-row", { hasText: "never.yaml" }).first().dblclick();
  await window.line("The critic says ACCEPTED").waitFor();
  await window.command("Testing: Focus on Test Explorer View");
  await expand(item("never"));
  const loop = window.page.locator(".test-explorer .monaco-list-row", { hasText: "compose" }).last();
  await run(loop);
  await result("compose", "failed");
  await window.picture("testing-limit");
});

test("its verdict stands at the line of the condition, and opens there with what each iteration was told", async () => {
  await window.show("never.yaml");
  const verdict = window.page.locator(".test-error-content-widget", { hasText: "limit reached after 2 iterations, condition not met" }).first();
  await verdict.waitFor();
  const heights = async (of: Locator) => (await of.boundingBox())?.y ?? 0;
  expect(Math.abs((await heights(verdict)) - (await heights(window.line("until:"))))).toBeLessThan(10);
  await verdict.click();
  const peek = window.page.locator(".test-output-peek", { hasText: "limit reached after 2 iterations" }).first();
  await peek.waitFor();
  await window.page.locator(".test-output-peek-tree .monaco-list-row", { hasText: 'iteration 2: NO - "REFUSED: no season in it"' }).first().waitFor();
  await window.picture("testing-verdict");
  await window.page.keyboard.press("Escape");
});

test("an iteration is run again from its own line: what came before it is taken", async () => {
  await window.show("haiku.yaml");
  await window.command("Testing: Focus on Test Explorer View");
  await expand(item("haiku"));
  await expand(item("compose"));
  const second = item("iteration 2");
  await second.hover();
  await second.locator('a.action-label[aria-label="Run Test"]').click();
  await mayRun("Run 1 loop with models?");
  await expect.poll(async () => (await runs())[0]?.source, { timeout: 60_000 }).toMatchObject({ kind: "fork", iteration: 2 });
  await expect.poll(async () => (await runs())[0]?.status, { timeout: 60_000 }).toBe("completed");
  await result("iteration 3", "passed");
  await window.picture("testing-again");
});

test("a run without a model is the usual way to run, and says that it is one", async () => {
  await run(item("haiku"));
  await window.told(/condition met · mock ·/).waitFor();
  expect((await runs())[0]).toMatchObject({ mock: true, status: "completed" });
  await window.picture("testing-mock");
});

test("a run with models is asked about first, with the most that it costs", async () => {
  await item("haiku").click({ button: "right" });
  await chosen(window.page, window.page.locator(".monaco-menu .action-item", { hasText: "Execute Using Profile" }).first());
  await window.pick("Run with models");
  await mayRun("Run 1 loop with models?");
  await window.answer("a frog");
  await expect.poll(async () => (await runs())[0], { timeout: 60_000 }).toMatchObject({ status: "completed" });
  expect((await runs())[0]?.mock ?? false).toBe(false);
});

test("a loop that was renamed is listed by its new name, once", async () => {
  await window.page.locator(".tab", { hasText: "haiku.yaml" }).click();
  await window.line("name: compose").click();
  await window.page.keyboard.press("End");
  await window.page.keyboard.type("_more");
  await item("compose_more").waitFor();
  expect(await window.page.locator(".test-explorer .monaco-list-row", { hasText: "compose_more" }).count()).toBe(1);
});
