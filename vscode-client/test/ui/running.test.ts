// A person runs a loop in the editor and watches it end.
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Browser } from "playwright-core";
import { CodeServer } from "../editor/codeServer";
import { poems } from "../editor/flows";
import { EditorWindow, folderOf, removeFolder, startBrowser } from "../editor/window";

let server: CodeServer;
let browser: Browser;
beforeAll(async () => {
  [server, browser] = await Promise.all([CodeServer.start(), startBrowser()]);
});
afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

test("a run asks for its input and says how it ended", async () => {
  const folder = folderOf(poems());
  const window = await EditorWindow.open(browser, server, folder, "haiku.yaml");
  await window.lens("Run loop").click();
  await window.page.locator(".quick-input-widget input").fill("a frog");
  await window.page.keyboard.press("Enter");
  await window.told("condition met in iteration 3").waitFor();
  expect(await window.message("condition met").count()).toBe(0); // the lens says it already
  await window.picture("ended");
  await window.close();
  removeFolder(folder);
});
