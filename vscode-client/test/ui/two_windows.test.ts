// Two windows on one folder: what runs belongs to both. A run that was started in one is seen, stopped, answered
// and deleted in the other, and nobody is told twice or asked what was answered already.
import { beforeAll, beforeEach, expect, test } from "vitest";
import { asking } from "../editor/agent";
import { endless } from "../editor/flows";
import { inEditor } from "../editor/inEditor";
import { Panel } from "../editor/panel";
import { RunsView } from "../editor/runsView";
import type { EditorWindow } from "../editor/window";

const editor = inEditor();
let here: EditorWindow;
let there: EditorWindow;
let listed: RunsView;
beforeAll(async () => {
  const agent = asking("the first patch", "the better patch");
  const settings = JSON.stringify({ providers: { ...JSON.parse(agent[".loop-ls.yaml"] ?? "{}").providers, scripted: { kind: "scripted" } } });
  const folder = editor.folder({ ...endless(), ...agent, ".loop-ls.yaml": settings });
  here = await editor.show(folder, "haiku.yaml");
  there = await editor.show(folder, "haiku.yaml");
  await there.lens("Run loop").waitFor();
  listed = new RunsView(there);
  await listed.show();
});
beforeEach(async () => {
  for (const window of [here, there]) await window.command("Notifications: Clear All Notifications");
});

/** Everything that a window tells by messages, those that were put aside included. */
const messages = (window: EditorWindow, text: string | RegExp) => window.page.locator(".notification-list-item", { hasText: text });

test("a run that was started in one window is seen in the other and stopped there", async () => {
  await here.lens("Run loop").click();
  await here.answer("a frog");
  await here.told(/iteration \d+\/50/).waitFor();
  await there.told(/iteration \d+\/50/).waitFor();
  const running = listed.row(/compose.*\/50/);
  await running.waitFor();
  await there.picture("two-windows-running");
  await listed.act(running, "Stop");
  await there.told("stopped in iteration").waitFor();
  await here.told("stopped in iteration").waitFor();
  await here.picture("two-windows-stopped");
  expect(await messages(here, "stopped").count()).toBe(0);
  expect(await messages(there, "stopped").count()).toBe(0);
});

test("a question is answered in one window, and the other one asks no more", async () => {
  for (const window of [here, there]) await window.show("fixer.assistant.yaml");
  await here.lens(/Run loop/).click();
  await here.answer("make it green");
  await here.page.locator(".monaco-dialog-box .monaco-button", { hasText: "Allow" }).click();
  await here.message("waits for your decision").waitFor();
  await there.lens("Approve").waitFor();
  await there.page.locator(".statusbar-item", { hasText: "Fixer waits for you" }).waitFor();
  await there.picture("two-windows-asked");
  expect(await messages(here, "waits for your decision").count()).toBe(1);
  await there.message("waits for your decision").waitFor();
  expect(await messages(there, "waits for your decision").count()).toBe(1);

  await here.message("waits for your decision").locator(".monaco-button", { hasText: "Approve" }).first().click();
  await here.told("approved").waitFor();
  await there.told("approved").waitFor();
  await there.lens("Approve").waitFor({ state: "detached" });
  await there.page.locator(".statusbar-item", { hasText: "waits for you" }).waitFor({ state: "detached" });
  await there.picture("two-windows-answered");
  // No program can take a message back: what is left of it decides nothing, and says so.
  await there.command("Notifications: Show Notifications");
  await there.page.locator(".notifications-center .notification-list-item", { hasText: "waits for your decision" }).getByRole("button", { name: "Approve" }).click();
  await messages(there, "Fixer: another user has already decided.").first().waitFor();
});

test("a run that is deleted in one window says so in the panel that the other one has open", async () => {
  await here.lens("Open run").click();
  const panel = new Panel(here);
  await panel.status("approved").waitFor();
  await listed.choose(listed.row(/Fixer.*approved/), "Delete Run...");
  await there.page.locator(".monaco-dialog-box .monaco-button", { hasText: "Delete" }).click();
  await listed.row(/Fixer/).waitFor({ state: "detached" });
  await panel.page.getByText("This run was deleted from the record.").waitFor();
  await here.picture("two-windows-deleted");
});
