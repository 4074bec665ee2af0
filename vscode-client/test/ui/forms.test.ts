// Forms in a real window: they edit the file and leave its comments, and keep to what a file can hold.
import { readFileSync } from "node:fs";
import * as path from "node:path";
import { beforeAll, expect, test } from "vitest";
import { serious, THEMES, useTheme } from "../editor/axe";
import { inEditor } from "../editor/inEditor";
import type { EditorWindow } from "../editor/window";

const ASSISTANT = `# who repairs our tests
name: Fixer # short
persona: |
  You repair failing tests with the smallest safe change.
model: sonnet
maxBudgetUsd: 0.5
loopEnabled: true # since May
loopCriteria:
  type: regex # the word at the end
  value: 'DONE|READY'
maxIterations: 10
`;
const SETTINGS = "# of this project\nlimits: {maxIterations: 20}\n";

const editor = inEditor();
let folder: string;
let window: EditorWindow;
beforeAll(async () => {
  ({ folder, window } = await editor.open({ "fixer.assistant.yaml": ASSISTANT, ".loop-ls.yaml": SETTINGS }, "fixer.assistant.yaml"));
});

const written = (name: string): string => readFileSync(path.join(folder, name), "utf8");

test("the form of an assistant's loop edits what changed and keeps the comments", async () => {
  await window.lens("Loop settings").click();
  const page = window.webview();
  await page.getByRole("heading", { name: "Loop of an Assistant" }).waitFor();
  expect(await page.getByRole("switch", { name: "Autonomous Loop" }).isChecked()).toBe(true);
  expect(await page.getByLabel("Stop Criterion").locator("option").allTextContents()).toEqual([
    "Regex match",
    "Test passes",
    "Manual review",
    "Max iterations only",
  ]);
  expect(await page.getByLabel("Pattern").inputValue()).toBe("DONE|READY");
  expect(await page.getByLabel("Command").isVisible()).toBe(false);
  await window.picture("assistant_form");

  await page.getByLabel("Stop Criterion").selectOption({ label: "Test passes" });
  expect(await page.getByLabel("Pattern").isVisible()).toBe(false);
  expect(await page.getByLabel("Command").inputValue()).toBe(""); // the pattern is no command
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Missing command: the test would never pass.").waitFor();
  expect(written("fixer.assistant.yaml")).toBe(ASSISTANT);

  await page.getByLabel("Command").fill("npm test");
  await page.getByLabel("Max Iterations").fill("25");
  await page.getByText("The loop ends after at most 25 iterations.").waitFor();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved.", { exact: true }).waitFor();
  const wanted = ASSISTANT.replace("regex #", "test_pass #").replace("'DONE|READY'", "'npm test'").replace("maxIterations: 10", "maxIterations: 25");
  expect(written("fixer.assistant.yaml")).toBe(wanted);
  await window.line("value: 'npm test'").waitFor();
  await window.picture("assistant_form_saved");
});

test("off takes the criterion away and keeps the limit", async () => {
  const page = window.webview();
  await page.getByRole("switch", { name: "Autonomous Loop" }).press("Space");
  expect(await page.getByLabel("Max Iterations").isVisible()).toBe(false);
  await page.getByRole("button", { name: "Save" }).press("Enter");
  await expect.poll(() => written("fixer.assistant.yaml"), { timeout: 30_000 }).toContain("loopEnabled: false # since May\nmaxIterations: 25\n");
});

test("the setup of enhance loops is written into the settings, and what is out of range is not", async () => {
  await window.command("Set Up Enhance Loops");
  const page = window.webview(-1);
  await page.getByRole("heading", { name: "Enhance Loops" }).waitFor();
  await page.getByText("Leave it off if the workflow works reliably").waitFor();
  await page.getByLabel("Max Rounds").fill("21");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("`maxRounds` must be from 1 to 20").waitFor();
  expect(written(".loop-ls.yaml")).toBe(SETTINGS);
  await page.getByLabel("Max Rounds").fill("5");
  await page.getByLabel("Pause Between Rounds").check();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved.", { exact: true }).waitFor();
  expect(written(".loop-ls.yaml")).toContain(SETTINGS);
  expect(written(".loop-ls.yaml").slice(SETTINGS.length)).toMatch(/enhance:[\s\S]*maxRounds: 5[\s\S]*pauseBetweenRounds: true/);
  await window.picture("enhance_form");
});

test.each(Object.keys(THEMES))("both forms keep nobody out in %s, also while they say what is wrong", async (theme) => {
  const page = window.webview();
  await window.lens("Loop settings").click();
  await page.getByRole("heading", { name: "Loop of an Assistant" }).waitFor();
  await useTheme(window, theme);
  const loop = page.getByRole("switch", { name: "Autonomous Loop" });
  if (!(await loop.isChecked())) await loop.press("Space");
  await page.getByLabel("Stop Criterion").selectOption({ label: "Test passes" });
  await page.getByLabel("Command").fill("");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Missing command: the test would never pass.").waitFor();
  expect(await serious(await window.frame()), `assistant in ${theme}`).toEqual([]);
  await window.picture(`form-assistant-${theme}`.replaceAll(" ", "-").toLowerCase());

  await window.page.locator(".tab", { hasText: "Enhance Loops" }).click();
  await page.getByRole("heading", { name: "Enhance Loops" }).waitFor();
  await page.getByLabel("Max Rounds").fill("21");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("`maxRounds` must be from 1 to 20").waitFor();
  expect(await serious(await window.frame()), `enhance in ${theme}`).toEqual([]);
  await window.picture(`form-enhance-${theme}`.replaceAll(" ", "-").toLowerCase());
});
