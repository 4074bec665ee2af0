// The tree of runs as a person uses it: its lines by what they say, their buttons and menus.
import type { Locator, Page } from "playwright-core";
import { expect } from "vitest";
import type { EditorWindow } from "./window";

export class RunsView {
  constructor(private readonly window: EditorWindow) {}

  async show(): Promise<void> {
    await this.window.page.locator('.activitybar a.action-label[aria-label="Loop"]').click();
  }

  /** All lines that say this. */
  rows(text: string | RegExp): Locator {
    return this.window.page.locator(".sidebar .monaco-list-row", { hasText: text });
  }

  row(text: string | RegExp): Locator {
    return this.rows(text).first();
  }

  /** A button that a line shows while the pointer is on it. */
  async act(on: Locator, title: string): Promise<void> {
    await on.hover();
    await on.locator(`a.action-label[aria-label="${title}"]`).click();
  }

  async choose(on: Locator, title: string): Promise<void> {
    const item = this.window.page.locator(".monaco-menu .action-item", { hasText: title }).first();
    const open = async (): Promise<boolean> => {
      await on.click({ button: "right" });
      const there = await item.waitFor({ timeout: 10_000 }).then(() => true, () => false);
      // The menu of a line that came under the pointer meanwhile. Without a menu, the key would deselect the lines.
      if (!there && (await this.window.page.locator(".monaco-menu").count()) > 0) await this.window.page.keyboard.press("Escape");
      return there;
    };
    await expect.poll(open, { timeout: 90_000 }).toBe(true);
    await chosen(this.window.page, item);
  }

  /** A button above the tree. */
  async title(name: string): Promise<void> {
    await this.window.page.locator(`.sidebar a.action-label[aria-label="${name}"]`).first().click();
  }
}

/** Click an item of an open menu. A menu takes no click in the first tenth of a second after it opened, so once more
 * where it is still there. */
export async function chosen(page: Page, item: Locator): Promise<void> {
  const closed = async (): Promise<number> => {
    if ((await item.count()) > 0) await item.click({ timeout: 5_000 }).catch(() => undefined);
    return item.count();
  };
  await expect.poll(closed, { timeout: 30_000, interval: 500 }).toBe(0);
}
