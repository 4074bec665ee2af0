// A panel of a run as a person sees it: what stands in its head, its rows, its tabs. Finds things by what they say.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Frame, FrameLocator, Locator } from "playwright-core";
import { type CodeServer, serverProgram } from "./codeServer";
import type { EditorWindow } from "./window";

export class Panel {
  readonly page: FrameLocator;

  constructor(
    readonly window: EditorWindow,
    private readonly index = 0,
  ) {
    this.page = window.webview(index);
  }

  get main(): Locator {
    return this.page.locator("main");
  }

  get ring(): Locator {
    return this.page.getByRole("progressbar");
  }

  get pane(): Locator {
    return this.page.locator("#pane");
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

  /** All facts are there and drawn. */
  async read(): Promise<void> {
    await this.page.locator('main[data-reading="false"]').waitFor();
  }

  /** The page itself, for scripts that look at it from inside. */
  frame(): Promise<Frame> {
    return this.window.frame(this.index);
  }
}

/** Starts a run as somebody in a terminal does, and waits for its end. */
export async function runInTerminal(server: CodeServer, folder: string, ...words: string[]): Promise<void> {
  const options = { cwd: folder, env: { ...process.env, LOOP_LS_DATA_DIR: server.dataDir }, timeout: 110_000, maxBuffer: 1 << 28 };
  await promisify(execFile)(serverProgram(), ["run", ...words, "--json", "--yes"], options).catch((error: { code?: number }) => {
    if (error.code !== 3) throw error; // 3: at its limit, which is an end as well
  });
}

/** Opens the run that a file shows, from the lens that says how it stands. */
export async function openShown(window: EditorWindow): Promise<Panel> {
  await window.lens("Open run").click({ timeout: 90_000 });
  const panel = new Panel(window);
  await panel.ring.waitFor({ timeout: 90_000 });
  return panel;
}
