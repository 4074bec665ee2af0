// A window of the editor as a person sees it, and the loop files that tests open in it.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { expect } from "vitest";
import { type Browser, chromium, type Frame, type FrameLocator, type Locator, type Page } from "playwright-core";
import type { CodeServer } from "./codeServer";

const PICTURES = process.env.LOOP_LS_PICTURES ?? path.resolve(__dirname, "../../out/pictures");

/** A window may take this long to load where everything else is busy, too; it takes four seconds where nothing is. */
const LOAD = 180_000;

export async function startBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: process.env.LOOP_LS_CHROMIUM ?? "/usr/bin/chromium",
    headless: true,
    args: [
      "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
      "--disable-component-update", "--disable-sync", "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    ],
  });
}

/** A new folder with these files. The caller removes it with `removeFolder`. */
export function folderOf(files: Record<string, string>): string {
  const folder = mkdtempSync(path.join(tmpdir(), "loops-"));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    writeFileSync(path.join(folder, name), text);
  }
  return folder;
}

export const removeFolder = (folder: string): void => rmSync(folder, { recursive: true, force: true });

export class EditorWindow {
  private constructor(readonly page: Page) {}

  static async open(browser: Browser, server: CodeServer, folder: string, file?: string): Promise<EditorWindow> {
    const context = await browser.newContext({ viewport: { width: 1360, height: 860 }, reducedMotion: "reduce" });
    context.setDefaultTimeout(90_000);
    const page = await context.newPage();
    const payload: [string, string][] = file ? [["openFile", server.remote(path.join(folder, file))]] : [];
    await page.goto(server.address(folder, payload), { timeout: LOAD });
    await page.locator(file ? ".editor-instance .monaco-editor" : ".monaco-workbench").first().waitFor({ timeout: LOAD });
    return new EditorWindow(page);
  }

  /** Runs a command by its title, as a person does from the palette. */
  async command(title: string): Promise<void> {
    await this.page.keyboard.press("F1");
    const input = this.page.locator(".quick-input-widget input");
    await input.waitFor();
    await input.fill(`>${title}`);
    await this.page.locator(".quick-input-list .monaco-list-row", { hasText: title }).first().click();
    await this.page.mouse.move(1, 1); // else it rests on what the command shows, whose hover then covers it
  }

  /** Opens another file of the folder in this window, by its name. */
  async show(file: string): Promise<void> {
    await this.page.keyboard.press("Control+p");
    const input = this.page.locator(".quick-input-widget input");
    await input.waitFor();
    await input.fill(file);
    // The list is put in order while it is read: what is chosen is what has come first, not what was there before.
    await this.page.locator(`.quick-input-list .monaco-list-row.focused[aria-label^="${file}"]`).first().waitFor();
    await this.page.keyboard.press("Enter");
    await this.page.locator(".tab.active", { hasText: file }).waitFor();
  }

  /** Types into the box that asks, and accepts. */
  async answer(text: string): Promise<void> {
    await this.page.locator(".quick-input-widget input").fill(text);
    await this.page.keyboard.press("Enter");
  }

  /** Chooses a line of the list that asks. */
  async pick(text: string | RegExp): Promise<void> {
    await this.page.locator(".quick-input-list .monaco-list-row", { hasText: text }).first().click();
  }

  /** Names a file to the dialog with this title, once the dialog has seen that it is there. */
  async chooseFile(title: string, file: string): Promise<void> {
    const dialog = this.page.locator(".quick-input-widget:visible", { hasText: title });
    await dialog.waitFor();
    const chosen = async (): Promise<boolean> => {
      await dialog.locator("input.input").fill(file);
      await dialog.locator(".monaco-list-row", { hasText: path.basename(file) }).first().waitFor({ timeout: 10_000 });
      await this.page.keyboard.press("Enter");
      return dialog.waitFor({ state: "hidden", timeout: 5_000 }).then(() => true, () => false);
    };
    // The dialog follows what is typed, and where the key comes first, it shows the folder instead.
    await expect.poll(() => chosen().catch(() => false), { timeout: 60_000 }).toBe(true);
  }

  line(text: string): Locator {
    return this.page.locator(".view-line", { hasText: text }).first();
  }

  lens(text: string | RegExp): Locator {
    return this.page.locator(".codelens-decoration a", { hasText: text }).first();
  }

  /** A lens that only tells something: it is no link. */
  told(text: string | RegExp): Locator {
    return this.page.locator(".codelens-decoration", { hasText: text }).first();
  }

  message(text: string | RegExp): Locator {
    return this.page.locator(".notification-toast", { hasText: text }).first();
  }

  /** The document inside the n-th webview that is shown. */
  webview(index = 0): FrameLocator {
    return this.page.frameLocator("iframe.webview.ready").nth(index).frameLocator("iframe#active-frame");
  }

  /** The same for scripts that look at it from inside. */
  async frame(index = 0): Promise<Frame> {
    const outer = await this.page.locator("iframe.webview.ready").nth(index).elementHandle();
    const inner = await (await outer?.contentFrame())?.waitForSelector("iframe#active-frame");
    const frame = await inner?.contentFrame();
    if (!frame) throw new Error("there is no page in the editor");
    return frame;
  }

  /** Of the whole window, or of the part that matters. */
  async picture(name: string, part?: Locator): Promise<void> {
    mkdirSync(PICTURES, { recursive: true });
    const whole = (await part?.boundingBox()) ?? undefined;
    await this.page.screenshot({ path: path.join(PICTURES, `${name}.png`), ...(whole ? { clip: whole } : {}) });
  }

  async close(): Promise<void> {
    await this.page.context().close();
  }
}
