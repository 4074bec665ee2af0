// A loop waits for a person, who answers by message, by lens, by tree, or says what should be different.
import { beforeAll, beforeEach, expect, test } from "vitest";
import type { Locator } from "playwright-core";
import { asking } from "../editor/agent";
import { inEditor } from "../editor/inEditor";
import type { EditorWindow } from "../editor/window";

const editor = inEditor();
let window: EditorWindow;
beforeAll(async () => {
  ({ window } = await editor.open(asking("the first patch", "the better patch"), "fixer.assistant.yaml"));
});

const button = (message: Locator, name: string): Locator => message.locator(".monaco-button", { hasText: name }).first();
const question = (): Locator => window.message("waits for your decision");

beforeEach(async () => {
  await window.lens(/Run loop/).click();
  const allow = window.page.locator(".monaco-dialog-box .monaco-button", { hasText: "Allow" });
  const box = window.page.locator(".quick-input-widget input");
  await box.or(allow).first().waitFor();
  if (await allow.isVisible()) {
    await allow.click();
    await box.waitFor();
  }
  await box.fill("make it green");
  await window.page.keyboard.press("Enter");
  await allow.or(question()).first().waitFor({ timeout: 60_000 });
  if (await allow.isVisible()) await allow.click();
  await question().waitFor({ timeout: 60_000 });
});

test("the message says what is asked, once; its output can be read, and approving ends the loop", async () => {
  await window.page.locator(".statusbar-item", { hasText: "Fixer waits for you" }).waitFor();
  expect(await window.page.locator(".notification-toast", { hasText: "waits for your decision" }).count()).toBe(1);
  await window.picture("approving-asked");
  await button(question(), "Show output").click();
  await window.line("the first patch").waitFor();
  await button(question(), "Approve").click();
  await window.told("approved").waitFor();
});

test("rejecting is a failure, and says so although the file is in front", async () => {
  await button(question(), "Reject").click();
  await window.told("rejected").waitFor();
  await window.message("Fixer: rejected").waitFor();
});

test("feedback is another try, which the lens approves", async () => {
  await button(question(), "Ask for changes").click();
  await window.page.locator(".quick-input-widget input").fill("shorter, please");
  await window.page.keyboard.press("Enter");
  await window.message("on iteration 2").waitFor({ timeout: 60_000 });
  await window.told(/waiting for approval · iteration 2/).waitFor();
  await window.lens("Approve").click();
  await window.told(/approved in iteration 2/).waitFor();
});
