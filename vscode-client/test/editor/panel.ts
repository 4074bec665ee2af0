// A panel of a run as a person sees it: what stands in its head, its rows, its tabs. Finds things by what they say.
import type { FrameLocator, Locator } from "playwright-core";
import type { EditorWindow } from "./window";

export class Panel {
  readonly page: FrameLocator;

  constructor(
    readonly window: EditorWindow,
    index = 0,
  ) {
    this.page = window.webview(index);
  }

  get main(): Locator {
    return this.page.locator("main");
  }

  get ring(): Locator {
    return this.page.getByRole("progressbar");
  }

  status(text: string | RegExp): Locator {
    return this.page.locator(".head .status", { hasText: text });
  }

  row(text: string | RegExp): Locator {
    return this.page.getByRole("treeitem", { name: text });
  }

  button(name: string | RegExp): Locator {
    return this.page.getByRole("button", { name });
  }

  async tab(name: string): Promise<void> {
    await this.page.getByRole("tab", { name }).click();
  }

  get pane(): Locator {
    return this.page.locator("#pane");
  }
}
