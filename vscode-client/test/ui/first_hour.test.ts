// What newcomers do in the first hour: they run a loop and watch it end, find out why one failed, and let a build check it.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import * as path from "node:path";
import { expect, test, vi } from "vitest";
import { poems } from "../editor/flows";
import { inEditor } from "../editor/inEditor";
import { openShown } from "../editor/panel";

vi.setConfig({ testTimeout: 300_000 });

const editor = inEditor();
const LONG = { timeout: 100_000 };

test("a run asks for its input and says how it ended", async () => {
  const { window } = await editor.open(poems(), "haiku.yaml");
  await window.lens("Run loop").click();
  await window.page.locator(".quick-input-widget input").fill("a frog");
  await window.page.keyboard.press("Enter");
  await window.told("condition met in iteration 3").waitFor();
  expect(await window.message("condition met").count()).toBe(0); // the lens says it already
  await window.picture("ended");
});

test("who asks why a run failed reads it above the loop, in the panel, and what to do", async () => {
  const files = { ...poems(), "haiku.answers.yaml": "answers:\n  - when: {step: draft}\n    say: old pond\n" };
  const { window } = await editor.open(files, "haiku.yaml");
  await window.lens("Run loop").click(LONG);
  await window.answer("a frog");
  await window.told(/✗ failed in iteration 1: .*has no answer/).waitFor(LONG);
  await window.picture("failed-lens");
  const panel = await openShown(window);
  await panel.status("failed in iteration 1").waitFor(LONG);
  await panel.read();
  await window.picture("failed-panel");
  await panel.page.getByText("Add an answer for it").first().waitFor();
  await panel.page.getByText("has no answer for").first().waitFor();
});

test("the build of the guide is no loop file, and fails a loop with an error next to its line", async () => {
  const guide = readFileSync(path.resolve(__dirname, "../../../docs/guides/ci.md"), "utf8");
  const action = /<!-- example: action -->\n```yaml\n([\s\S]*?)```/.exec(guide)?.[1] ?? "";
  const { folder, window } = await editor.open(poems(), "haiku.yaml");
  mkdirSync(path.join(folder, ".github/workflows"), { recursive: true });
  writeFileSync(path.join(folder, ".github/workflows/loops.yml"), action);
  await window.lens("Run loop").waitFor(LONG);
  await window.show("loops.yml");
  await window.line("loop-ls check --format github").waitFor();
  await window.picture("build-file");
  expect(await window.page.locator(".squiggly-error, .squiggly-warning, .codelens-decoration").count()).toBe(0);

  expect(await editor.loopLs(folder, "check", "--format", "github")).toBe("");
  const flow = path.join(folder, "haiku.yaml");
  writeFileSync(flow, readFileSync(flow, "utf8").replace("max_iterations", "max_iteration"));
  const failed = editor.loopLs(folder, "check", "--format", "github");
  const told = await failed.catch((error: { code: number; stdout: string }) => `${error.code} ${error.stdout}`);
  expect(told).toContain("1 ::error file=haiku.yaml,line=16,");
});
