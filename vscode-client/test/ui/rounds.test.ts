// Enhance loops in the panel: the rounds of a workflow that is mended, with and without a pause between them.
import { readFileSync } from "node:fs";
import * as path from "node:path";
import { expect, test, vi } from "vitest";
import { inEditor } from "../editor/inEditor";
import { openShown } from "../editor/panel";
import { mended, mendedTogether } from "../editor/panelFlows";

vi.setConfig({ testTimeout: 300_000 }); // whole stories, on machines that may be busy

const editor = inEditor();

test("rounds say what failed, was proposed, rejected and applied, and a person lets them go on", async () => {
  const { folder, window } = await editor.open(mended({ pause: true }), "report.yaml");
  await window.lens("Run workflow").click();
  const panel = await openShown(window);
  await panel.page.getByText("Round 1 is over; changes are proposed and wait for you.").waitFor({ timeout: 60_000 });
  await panel.button("Show changes").click();
  await panel.page.getByRole("heading", { name: "Changes to the file" }).waitFor();
  await panel.pane.getByText("The review is refused because nobody said in what tone it is wanted.").waitFor();
  expect(await panel.pane.getByText("nowhere").count()).toBeGreaterThan(0); // what was proposed and is not possible
  await window.picture("rounds-paused");

  await panel.button("Continue to next round").click();
  await panel.row(/round 2 of 3, YES/).waitFor({ timeout: 60_000 });
  await panel.status("converged in round 2").waitFor();
  await panel.row(/round 1 of 3/).click();
  await panel.page.getByRole("heading", { name: "Applied" }).waitFor();
  await panel.pane.locator(".diff .new", { hasText: "Review {{draft}} kindly" }).waitFor();
  await window.picture("rounds-ended");
  await window.line("Review {{draft}} kindly").waitFor();
  expect(readFileSync(path.join(folder, "report.yaml"), "utf8")).not.toContain("kindly"); // an edit of the editor, not saved
});

test("one undo takes back what a plan changed in several files, those that were not open included", async () => {
  const files = mendedTogether();
  const { folder, window } = await editor.open(files, "report.yaml");
  await window.lens("Run workflow").click();
  await window.answer("the sea");
  await window.told("converged in round 2").waitFor({ timeout: 90_000 });
  await window.show("write.yaml");
  await window.line("Write kindly about the sea").waitFor();
  expect(readFileSync(path.join(folder, "write.yaml"), "utf8")).toBe(files["write.yaml"]); // an edit of the editor, not saved

  await window.show("report.yaml");
  await window.line("Publish all of {{draft}}").click();
  await window.page.keyboard.press("Control+z");
  await expect.poll(() => window.page.locator(".tab.dirty").count(), { timeout: 60_000 }).toBe(0);
  await window.line('run: "Publish {{draft}}"').waitFor();
  await window.show("write.yaml");
  await window.line('run: "Write about the sea"').waitFor();
  await window.picture("rounds-several-files");
});
