// What every test in a window begins and ends with: one editor and one browser for the tests of a file, windows
// that go with the test that opened them, and a picture of each window in which a test failed. Says nothing of
// what is looked at there.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Browser } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";
import { CodeServer, type Options, serverProgram } from "./codeServer";
import { EditorWindow, folderOf, removeFolder, startBrowser } from "./window";

export class Editor {
  browser!: Browser;
  private readonly servers: CodeServer[] = [];
  private readonly windows: EditorWindow[] = [];
  private readonly folders: string[] = [];
  /** So many were there before the test began: they stay for the next one. */
  private kept = { windows: 0, folders: 0 };

  /** The one that the tests of the file share. */
  get server(): CodeServer {
    const [server] = this.servers;
    if (!server) throw new Error("this file has no editor of its own: start one by `serve`");
    return server;
  }

  async start(options: Options | null): Promise<void> {
    const [browser] = await Promise.all([startBrowser(), options && this.serve(options)]);
    this.browser = browser;
  }

  /** A further editor, with settings or surroundings of its own. */
  async serve(options: Options): Promise<CodeServer> {
    const server = await CodeServer.start(options);
    this.servers.push(server);
    return server;
  }

  folder(files: Record<string, string>): string {
    const folder = folderOf(files);
    this.folders.push(folder);
    return folder;
  }

  /** A window on a new folder with these files; both go after the test, or after the last one of the file. */
  async open(files: Record<string, string>, file?: string, server = this.server): Promise<{ window: EditorWindow; folder: string }> {
    const folder = this.folder(files);
    return { folder, window: await this.show(folder, file, server) };
  }

  /** A window on a folder, which other windows may show as well. */
  async show(folder: string, file?: string, server = this.server): Promise<EditorWindow> {
    const window = await EditorWindow.open(this.browser, server, folder, file);
    this.windows.push(window);
    return window;
  }

  /** What somebody at a terminal in that folder is told by `loop-ls`. */
  async loopLs(folder: string, ...words: string[]): Promise<string> {
    const env = { ...process.env, LOOP_LS_DATA_DIR: this.server.dataDir };
    const { stdout } = await promisify(execFile)(serverProgram(), words, { cwd: folder, timeout: 110_000, env, maxBuffer: 1 << 28 });
    return stdout;
  }

  stopEngine(folder: string): Promise<string> {
    return this.loopLs(folder, "engine", "stop", "--data-dir", this.server.dataDir);
  }

  begin(): void {
    this.kept = { windows: this.windows.length, folders: this.folders.length };
  }

  async pictures(test: string): Promise<void> {
    const name = `failed-${test.replace(/\W+/g, "-")}`;
    for (const [index, window] of this.windows.entries()) await window.picture(index ? `${name}-${index}` : name).catch(() => undefined);
  }

  async end(kept = this.kept): Promise<void> {
    for (const window of this.windows.splice(kept.windows)) await window.close();
    for (const folder of this.folders.splice(kept.folders)) removeFolder(folder);
  }

  async stop(): Promise<void> {
    await this.end({ windows: 0, folders: 0 });
    await this.browser?.close();
    await Promise.all(this.servers.map((server) => server.stop()));
  }
}

/** `null`: only a browser; the tests start editors themselves. */
export function inEditor(options: Options | null | (() => Promise<Options>) = {}): Editor {
  const editor = new Editor();
  beforeAll(async () => editor.start(typeof options === "function" ? await options() : options));
  beforeEach(() => editor.begin());
  afterEach(async ({ task }) => {
    if (task.result?.state === "fail") await editor.pictures(task.name);
    await editor.end();
  });
  afterAll(() => editor.stop());
  return editor;
}
