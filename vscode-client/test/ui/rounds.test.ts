// Enhance loops in the panel: the rounds of a workflow that is mended, with and without a pause between them.
import { readFileSync } from "node:fs";
import * as path from "node:path";
import { expect, test, vi } from "vitest";
import { inEditor } from "../editor/inEditor";
import { openShown } from "../editor/panel";
import { mended } from "../editor/panelFlows";

vi.setConfig({ testTimeout: 300_000 }); // whole stories, on machines that may be busy

const editor = inEditor();

test("rounds say what failed, was proposed, rejected and applied, and a person lets them go on", async () => {
  const { folder, window } = await editor.open(mended({ pause: true }), "report.yaml");
  await window.lens("Run workflow").click();
  const panel = await openShown(window);
  await panel.page.getByText("Round 1 is over; changes are proposed and wait for you.").waitFor({ timeout: 60_000 });
  await panel.button("Show changes").click();
  await panel.page.getByRole("heading", { name: "Changes of the file" }).waitFor();
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
