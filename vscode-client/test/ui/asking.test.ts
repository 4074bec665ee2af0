// What a start asks a person for: texts, which come back the next time, and consent, which is never given by haste.
import { existsSync } from "node:fs";
import * as path from "node:path";
import { beforeAll, expect, test } from "vitest";
import { poems } from "../editor/flows";
import { inEditor } from "../editor/inEditor";
import type { EditorWindow } from "../editor/window";

// The tester only leaves a trace that it ran; the answers are scripted, so nothing is asked of a model.
const ASSISTANT = `name: Marker
persona: You say done.
provider: openai
loopEnabled: true
loopCriteria:
  type: test_pass
  value: touch ran.txt
maxIterations: 2
`;
const FILES = {
  ...poems(),
  "marker.assistant.yaml": ASSISTANT,
  "marker.assistant.answers.yaml": "answers:\n  - say: done\n",
  ".loop-ls.yaml": "providers:\n  scripted:\n    kind: scripted\n  openai:\n    kind: scripted\n",
};

const editor = inEditor();
let folder: string;
let window: EditorWindow;
beforeAll(async () => {
  ({ folder, window } = await editor.open(FILES, "haiku.yaml"));
});

/** Engines start at the pace of the machine. */
const LONG = { timeout: 100_000 };

const box = () => window.page.locator(".quick-input-widget:visible input.input");

test("a run asks for its input, and the next one knows what it was", async () => {
  await window.lens("Run loop").click();
  await box().waitFor();
  expect(await box().inputValue()).toBe("");
  await box().fill("a frog in the rain");
  await window.picture("input");
  await window.page.keyboard.press("Enter");
  await window.page.locator(".codelens-decoration", { hasText: "condition met in iteration 3" }).waitFor(LONG);

  await window.lens("Run loop again").click();
  await box().waitFor();
  await expect.poll(() => box().inputValue(), { timeout: 30_000 }).toBe("a frog in the rain");
  await window.picture("input_remembered");
  await window.page.keyboard.press("Escape");
}, 240_000);

test("a text of many lines is written in an editor", async () => {
  await window.lens("Run loop again").click();
  await window.page.locator(".quick-input-widget").getByRole("button", { name: "Write a Longer Text in an Editor" }).click();
  const message = window.message("write the text, then run");
  await message.waitFor();
  await window.line("a frog in the rain").waitFor();
  await window.picture("input_in_editor");
  await message.getByRole("button", { name: "Cancel" }).click();
  await window.lens("Run loop again").waitFor();
});

test("consent is asked with what would run; Enter and Escape allow nothing", async () => {
  await window.show("marker.assistant.yaml");
  await window.lens("Run loop").click();
  await box().fill("mark it");
  await window.page.keyboard.press("Enter");
  const dialog = window.page.locator(".monaco-dialog-box");
  await dialog.getByText("touch ran.txt").waitFor();
  await window.picture("consent");
  await window.page.keyboard.press("Escape");
  await dialog.waitFor({ state: "hidden" });
  expect(existsSync(path.join(folder, "ran.txt"))).toBe(false);

  await window.lens("Run loop").click();
  await box().waitFor();
  await window.page.keyboard.press("Enter"); // the text of the last time
  await dialog.waitFor();
  await window.page.keyboard.press("Enter");
  await window.line("What this run would do").waitFor();
  expect(existsSync(path.join(folder, "ran.txt"))).toBe(false);
});

test("what is allowed runs", async () => {
  await window.show("marker.assistant.yaml");
  await window.lens("Run loop").click();
  await box().waitFor();
  await window.page.keyboard.press("Enter");
  await window.page.locator(".monaco-dialog-box").getByRole("button", { name: "Allow and Run" }).click();
  await expect.poll(() => existsSync(path.join(folder, "ran.txt")), { ...LONG }).toBe(true);
  await window.lens("Run loop again").waitFor(LONG);
}, 240_000);
