// The panel for everybody: axe-core finds nothing serious in any kind of theme, and every action is reached by keys.
import { beforeAll, expect, test, vi } from "vitest";
import { serious, THEMES, useTheme } from "../editor/axe";
import { inEditor } from "../editor/inEditor";
import { openShown, type Panel } from "../editor/panel";
import { pipeline } from "../editor/panelFlows";
import type { EditorWindow } from "../editor/window";

vi.setConfig({ testTimeout: 300_000 }); // whole stories, on machines that may be busy

const editor = inEditor();
let window: EditorWindow;
let panel: Panel;
beforeAll(async () => {
  ({ window } = await editor.open(pipeline({ delay: 0 }), "iterative_developer.yaml"));
  await window.lens("Run workflow").click();
  await window.page.locator(".quick-input-widget input").fill("slugify titles");
  await window.page.keyboard.press("Enter");
  panel = await openShown(window);
  await panel.status("condition met in iteration 3").waitFor({ timeout: 90_000 });
}, 300_000);

test.each(Object.keys(THEMES))("nothing serious in %s", async (theme) => {
  await useTheme(window, theme);
  for (const tab of ["Output", "Question to the judge", "Prompt", "Table", "Events", "Graph"]) {
    await panel.tab(tab);
    await panel.pane.locator("pre, table, svg").first().waitFor();
    expect(await serious(await panel.frame()), `${tab} in ${theme}`).toEqual([]);
    if (tab === "Output" || tab === "Graph") await window.picture(`panel-${theme}-${tab}`.replaceAll(" ", "-").toLowerCase());
  }
  await panel.tab("Output");
});

test("every action is reached by keys, and Escape leads back to the rows", async () => {
  const frame = await panel.frame();
  const focused = (): Promise<string> =>
    frame.evaluate(() => {
      const element = document.activeElement as HTMLElement | null;
      return `${element?.getAttribute("role") ?? element?.tagName.toLowerCase()} ${element?.getAttribute("aria-label") ?? element?.textContent?.trim() ?? ""}`;
    });
  const onto = (row: RegExp) => vi.waitUntil(async () => row.test(await focused()), { timeout: 60_000, interval: 100 });
  const { keyboard } = window.page;
  await panel.button("iterative_developer.yaml").focus();
  await keyboard.press("Tab");
  expect(await focused()).toBe("button Fork");
  await keyboard.press("ArrowRight"); // inside the toolbar
  expect(await focused()).toBe("button Replay");
  await keyboard.press("Tab");
  expect(await focused()).toMatch(/^treeitem iteration 3 of 5, YES/);
  await keyboard.press("ArrowUp");
  await onto(/iteration 2 of 5, NO/);
  await keyboard.press("ArrowLeft"); // to the heading of the loop, which closes
  await onto(/loop develop/);
  await keyboard.press("ArrowLeft");
  await panel.row(/iteration 2/).waitFor({ state: "detached" });
  expect(await panel.row(/loop develop/).getAttribute("aria-expanded")).toBe("false");
  await keyboard.press("ArrowRight");
  await panel.row(/iteration 2/).waitFor();
  await keyboard.press("ArrowDown");
  await keyboard.press("ArrowDown");
  await onto(/iteration 2 of 5, NO/);
  await keyboard.press("Enter"); // into what it says
  expect(await focused()).toMatch(/^tabpanel/);
  await keyboard.press("Shift+Tab");
  expect(await focused()).toBe("tab Output");
  await keyboard.press("ArrowRight");
  await panel.page.getByRole("tab", { name: "Question to the judge", selected: true }).waitFor();
  await panel.pane.getByText("FAIL: empty input handled, docs missing").waitFor();
  await keyboard.press("Escape");
  await onto(/iteration 2 of 5, NO/);
});
