// What a person makes of runs that have ended: opened from the palette, replayed, compared, kept as a file, taken
// in again. One window; each story goes on with the runs of the one before.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import * as path from "node:path";
import { beforeAll, expect, test } from "vitest";
import { poems } from "../editor/flows";
import { inEditor } from "../editor/inEditor";
import { Panel } from "../editor/panel";
import { RunsView } from "../editor/runsView";
import type { EditorWindow } from "../editor/window";

const editor = inEditor();
let window: EditorWindow;
let folder: string;
let tree: RunsView;
let panel: Panel;
beforeAll(async () => {
  ({ window, folder } = await editor.open(poems(), "haiku.yaml"));
  tree = new RunsView(window);
  panel = new Panel(window);
  await tree.show();
  await window.lens("Run loop").click();
  await window.answer("a frog");
  await tree.row(/compose.*3\/5 · condition met/).waitFor();
});

const runs = async (): Promise<{ runId: string; source?: { kind: string } }[]> => JSON.parse(await editor.loopLs(folder, "runs", "--json")).runs;

/** The run that the others come from. A test that is tried again finds what its first try has made, too. */
const theOrigin = async (): Promise<{ runId: string } | undefined> => (await runs()).find((run) => run.source === undefined);

test("`Loop: Open Run` names each run as the tree does, and opens it", async () => {
  await window.command("Loop: Open Run");
  const line = window.page.locator(".quick-input-list .monaco-list-row", { hasText: "compose" }).first();
  await line.waitFor();
  expect(await line.innerText()).toMatch(/condition met in iteration 3 · just now[\s\S]*haiku\.yaml · [0-9a-f]{8}/);
  await window.picture("again-open-run");
  await window.page.keyboard.press("Enter");
  await panel.status("condition met in iteration 3").waitFor();
  await panel.row(/iteration 3 of 5, YES/).waitFor();
});

test("a replay takes the recorded answers, says so, and is compared with its origin", async () => {
  await tree.choose(tree.row(/compose.*condition met/), "Replay");
  await tree.row(/compose.*replay · 3\/5 · condition met/).waitFor();
  const [replay] = await runs();
  const origin = await theOrigin();
  expect(replay?.source?.kind).toBe("replay");
  const shown = panel.page.locator(".head .chip", { hasText: `replay of ${origin?.runId.slice(0, 8)}` });
  await shown.waitFor();
  await window.picture("again-replay");

  const line = tree.row(/^compose ?3/);
  await tree.row(/^compose ?replay/).click();
  await line.click({ modifiers: ["Control"] });
  await tree.choose(line, "Compare Iterations...");
  await window.page.locator(".tab", { hasText: `compose ${origin?.runId.slice(0, 6)} ↔ compose ${replay?.runId.slice(0, 6)}` }).waitFor();
  await window.page.locator(".monaco-diff-editor .modified .view-line", { hasText: "Iteration 3" }).first().waitFor();
  await window.picture("again-compare-runs");
});

test("an exported run is a file that opens, and after the run was deleted it is taken in again", async () => {
  const id = (await theOrigin())?.runId ?? "";
  const line = tree.row(/^compose ?3/);
  await tree.row(/^compose ?replay/).click({ modifiers: ["Control"] }); // it was selected, too; now only the other one is
  await tree.choose(line, "Export Run...");
  const box = window.page.locator(".quick-input-widget:visible input.input");
  await expect.poll(() => box.inputValue(), { timeout: 30_000 }).toContain(`compose-${id.slice(0, 8)}.run.json`);
  await window.picture("again-export");
  await window.page.keyboard.press("Enter");
  const message = window.message("compose was exported, without secrets.");
  await message.waitFor();
  const [file = ""] = readdirSync(folder).filter((name) => name.endsWith(".run.json"));
  expect(JSON.parse(readFileSync(path.join(folder, file), "utf8")).runId).toBe(id);
  await message.getByRole("button", { name: "Open File" }).click();
  await window.page.locator(".tab.active", { hasText: file }).waitFor();

  await tree.choose(line, "Delete Run...");
  await window.page.locator(".monaco-dialog-box .monaco-button", { hasText: "Delete" }).click();
  await expect.poll(async () => (await runs()).map(({ runId }) => runId), { timeout: 30_000 }).not.toContain(id);

  await window.command("Loop: Import Run...");
  await window.chooseFile("Import an exported run", path.join(folder, file));
  await tree.row(/compose.*imported · 3\/5/).waitFor();
  await panel.page.locator(".head .chip", { hasText: "imported" }).waitFor();
  await panel.row(/iteration 3 of 5, YES/).waitFor();
  await panel.page.getByText("This run was deleted").waitFor({ state: "detached" });
  expect((await runs()).map(({ runId }) => runId)).toContain(id);
  await window.picture("again-imported");
});

test("a file that is no exported run is refused in one sentence", async () => {
  writeFileSync(path.join(folder, "other.json"), '{"name": "other"}\n');
  await window.command("Loop: Import Run...");
  await window.chooseFile("Import an exported run", path.join(folder, "other.json"));
  await window.message("other.json is not an exported run: choose a file written by Export Run...").waitFor();
  await window.picture("again-refused");
});

test("a mock run asks no model, and is told from a real one everywhere", async () => {
  writeFileSync(path.join(folder, "real.yaml"), (poems()["haiku.yaml"] ?? "").replace("name: haiku", "name: real").replace("provider: scripted", "provider: openai"));
  await window.show("real.yaml");
  await window.lens("Run loop").waitFor();
  await window.command("Loop: Run This File Without a Model (Mock)");
  await window.answer("a frog");
  await window.told(/condition met · mock · \d\d:\d\d/).waitFor();
  await tree.row(/real.*mock.*condition met/).click();
  await panel.page.locator(".head .chip", { hasText: "mock run" }).waitFor();
  expect(await window.page.locator(".editor-group-container").count()).toBe(2); // where the other runs are shown
  await window.picture("again-mock");
});
