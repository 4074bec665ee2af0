// What the extension costs a window, as the editor itself measures it, and that it costs nothing elsewhere.
import { expect, test } from "vitest";
import { poems } from "../editor/flows";
import { inEditor } from "../editor/inEditor";
import { languageServers } from "../editor/machine";
import type { EditorWindow } from "../editor/window";

const editor = inEditor();

/** The rows of "Running Extensions": milliseconds of activation by the extension's name. */
async function activations(window: EditorWindow): Promise<Map<string, number>> {
  await window.command("Developer: Show Running Extensions");
  const rows = window.page.locator(".runtime-extensions-editor .extension");
  await rows.first().waitFor();
  const found = new Map<string, number>();
  for (const row of await rows.all()) {
    const name = await row.locator(".name").first().innerText();
    const time = /Activation: (\d+)\s*ms/.exec((await row.innerText()).replaceAll("\u00a0", " "));
    if (time) found.set(name.trim(), Number(time[1]));
  }
  return found;
}

const OURS = "Loop: AI loops you can trust";

test("activation in a folder with loops takes at most 50 ms, or no longer than that of an extension beside us", { timeout: 180_000 }, async () => {
  const { window } = await editor.open(poems(), "haiku.yaml");
  await window.lens("Run loop").waitFor();
  const times = await activations(window);
  await window.picture("activation");
  console.log("activation:", JSON.stringify([...times]));
  const row = window.page.locator(".runtime-extensions-editor .extension", { hasText: OURS });
  expect(await row.locator(".codicon-warning, .codicon-error").count(), await row.innerText()).toBe(0);
  const ours = times.get(OURS);
  expect(ours).toBeDefined();
  const slowest = Math.max(...[...times].filter(([name]) => name !== OURS).map(([, time]) => time), 0);
  expect(ours).toBeLessThanOrEqual(Math.max(50, slowest));
});

test("in a folder without loop files no server is started and no view of ours is there", { timeout: 180_000 }, async () => {
  const before = languageServers(editor.server.pid);
  const { window } = await editor.open({ "package.json": "{}\n", "compose.yaml": "services:\n  db: {}\n" }, "compose.yaml");
  const times = await activations(window);
  console.log("activation of the door:", times.get(OURS));
  expect(languageServers(editor.server.pid).filter((pid) => !before.includes(pid))).toEqual([]);
  expect(await window.page.locator(".activitybar .action-label[aria-label^='Loop']").count()).toBe(0);
  await window.picture("activation-elsewhere");
});
