// A person runs a loop in the editor and watches it end.
import { expect, test } from "vitest";
import { poems } from "../editor/flows";
import { inEditor } from "../editor/inEditor";

const editor = inEditor();

test("a run asks for its input and says how it ended", async () => {
  const { window } = await editor.open(poems(), "haiku.yaml");
  await window.lens("Run loop").click();
  await window.page.locator(".quick-input-widget input").fill("a frog");
  await window.page.keyboard.press("Enter");
  await window.told("condition met in iteration 3").waitFor();
  expect(await window.message("condition met").count()).toBe(0); // the lens says it already
  await window.picture("ended");
});
