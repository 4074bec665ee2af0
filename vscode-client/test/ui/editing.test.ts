// Writing loop files in a real window: what is wrong is marked and mended, what exists is offered, variables are
// coloured, and a first file comes from a template.
import { existsSync, readFileSync } from "node:fs";
import * as path from "node:path";
import { beforeAll, expect, test } from "vitest";
import { poems } from "../editor/flows";
import { inEditor } from "../editor/inEditor";
import type { EditorWindow } from "../editor/window";

const FILES = { ...poems() };
const BROKEN = FILES["haiku.yaml"]!.replace("max_iterations: 5", "max_iteration: 5");

const editor = inEditor();
let folder: string;
let window: EditorWindow;
beforeAll(async () => {
  const files = { ...FILES, "broken.yaml": BROKEN.replace("name: haiku", "name: broken"), "plain.yaml": 'greeting: "Hello {{name}}"\n' };
  ({ folder, window } = await editor.open(files, "broken.yaml"));
});

const written = (name: string): string => readFileSync(path.join(folder, name), "utf8");

test("a key that does not exist is marked, and its fix is one click away", async () => {
  await window.page.locator(".squiggly-error, .squiggly-warning").first().waitFor();
  await window.line("max_iteration: 5").getByText("max_iteration").hover();
  await window.page.locator(".monaco-hover").getByText("did you mean").first().waitFor();
  await window.picture("squiggle");
  const there = (await window.line("until:").boundingBox())!;
  await window.page.mouse.move(there.x + there.width - 40, there.y + 5); // behind its text, where nothing is explained
  await window.page.locator(".monaco-hover:visible").waitFor({ state: "detached" }); // it would cover the menu
  const fix = window.page.locator(".action-widget .monaco-list-row", { hasText: "max_iterations" }).first();
  const open = async (): Promise<boolean> => {
    await window.page.keyboard.press("Escape");
    await window.line("max_iteration: 5").getByText("max_iteration").click();
    await window.page.keyboard.press("Control+.");
    return fix.waitFor({ timeout: 10_000 }).then(() => true, () => false);
  };
  await expect.poll(open, { timeout: 60_000 }).toBe(true); // no menu while the editor still waits for somebody's actions
  await fix.click();
  await window.line("max_iterations: 5").waitFor();
  await window.page.keyboard.press("Control+s");
  await expect.poll(() => written("broken.yaml"), { timeout: 30_000 }).toContain("max_iterations: 5");
  await window.page.locator(".squiggly-error").waitFor({ state: "detached" });
});

test("between braces what exists at that place is offered", async () => {
  await window.show("haiku.yaml");
  await window.line("before:").click();
  await window.page.keyboard.press("End");
  await window.page.keyboard.press("ArrowLeft");
  await window.page.keyboard.type("{{loop.");
  const offered = window.page.locator(".suggest-widget.visible .monaco-list-row");
  const row = (name: string) => offered.and(window.page.locator(`[aria-label^="${name}"]`));
  const ask = async (): Promise<boolean> => {
    await window.page.keyboard.press("Control+Space");
    return row("loop.history").waitFor({ timeout: 10_000 }).then(() => true, () => false);
  };
  await expect.poll(ask, { timeout: 60_000 }).toBe(true); // the list stays away while the server still reads
  expect(await row("loop.last.output").count()).toBe(1);
  expect(await row("loop.index").count()).toBe(0); // of another kind of loop
  await window.picture("completion");
  await window.page.keyboard.press("Escape");
});

test("variables are coloured where they are texts, before any server speaks", async () => {
  await window.show("plain.yaml"); // none of our files: only the grammar colours it
  const line = window.line("Hello");
  await line.waitFor();
  const colour = (text: string) => line.locator("span span", { hasText: text }).last().evaluate((span) => getComputedStyle(span).color);
  await expect.poll(async () => (await colour("name")) !== (await colour("Hello")), { timeout: 30_000 }).toBe(true);
});

test("a new loop comes from its template and has nothing wrong", async () => {
  await window.command("Loop: New Loop from Template");
  const loop = window.page.locator(".quick-input-list .monaco-list-row", { hasText: "A workflow that repeats drafts" });
  await loop.waitFor();
  await window.picture("new_file", window.page.locator(".quick-input-widget:visible"));
  await loop.click();
  const box = window.page.locator(".quick-input-widget:visible input.input");
  await expect.poll(() => box.inputValue(), { timeout: 30_000 }).toBe("my_loop");
  await box.fill("tidy_up");
  await window.page.keyboard.press("Enter");
  await window.pick("Answers from a File");
  await window.lens("Run loop").waitFor();
  expect(existsSync(path.join(folder, "tidy_up_draft.yaml"))).toBe(true);
  expect(written("tidy_up.yaml")).toContain("workflow: tidy_up_draft");
  // the two files are written one after the other, and the first is looked at before the second is heard of
  await expect.poll(() => window.page.locator(".squiggly-error").count(), { timeout: 5000 }).toBe(0);
});

test("a newcomer tries it without a key", async () => {
  await window.command("Loop: Run This File Without a Model (Mock)");
  await window.page.locator(".quick-input-widget:visible input.input").fill("tidy up the shed");
  await window.page.keyboard.press("Enter");
  await window.lens("Run workflow again").waitFor({ timeout: 100_000 });
}, 240_000);

test("the walkthrough opens, with a picture for each step", async () => {
  await window.command("Welcome: Open Walkthrough");
  await window.page.locator(".quick-input-list .monaco-list-row", { hasText: "Loops" }).first().click();
  await window.page.getByText("Write your first loop").first().waitFor();
  const picture = window.page.locator(".getting-started-media img").first();
  await picture.waitFor();
  await expect.poll(() => picture.evaluate((img: HTMLImageElement) => img.naturalWidth), { timeout: 30_000 }).toBeGreaterThan(100);
  await window.picture("walkthrough");
});
