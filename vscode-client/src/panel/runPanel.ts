// One panel of one run in the editor: its page, and the host that tells it of the run.
import * as vscode from "vscode";
import { pageOf } from "../page";
import type { Surroundings } from "../part";
import { act } from "./actions";
import { RunHost } from "./host";
import type { Act, Head, Tab, ToHost } from "./shape";
import type { View } from "./view";

export class RunPanel implements vscode.Disposable {
  private readonly host: RunHost;
  private readonly parts: vscode.Disposable[] = [];
  private readonly opened = Date.now();
  /** Somebody has looked into it. */
  used = false;

  constructor(
    readonly runId: string,
    readonly panel: vscode.WebviewPanel,
    private readonly around: Surroundings,
    first: { iteration?: number; tab?: Tab },
    closed: () => void,
  ) {
    const { webview } = panel;
    this.host = new RunHost(runId, {
      server: around.server,
      runs: around.runs,
      post: (message) => void webview.postMessage(message),
      act: (wanted) => void this.act(wanted),
      headed: (head) => {
        panel.title = titleOf(head);
      },
      drawn: (rows) => around.log.debug(`panel of ${runId}: ${rows} rows drawn after ${Date.now() - this.opened} ms`),
    });
    this.reveal(first.iteration, first.tab);
    this.parts.push(
      this.host,
      webview.onDidReceiveMessage((message: ToHost) => void this.host.hear(message)),
      panel.onDidChangeViewState(() => {
        this.used ||= panel.active;
      }),
      panel.onDidDispose(() => {
        this.dispose();
        closed();
      }),
    );
    webview.options = { enableScripts: true, localResourceRoots: [vscode.Uri.joinPath(around.context.extensionUri, "dist")] };
    webview.html = pageOf(webview, around.context.extensionUri, "panel", "Run");
    this.host.begin();
  }

  get view(): View {
    return this.host.view;
  }

  reveal(iteration: number | undefined, tab: Tab | undefined): void {
    this.host.reveal(iteration, tab);
  }

  dispose(): void {
    for (const part of this.parts.splice(0)) part.dispose();
  }

  private async act(wanted: Act): Promise<void> {
    const { view, following } = this.host;
    const stage = { runId: this.runId, state: following.state, view, server: this.around.server, again: () => this.host.begin() };
    await act(stage, wanted).catch((error: unknown) => this.around.log.error(`panel: ${wanted.verb}: ${String(error)}`));
  }
}

const titleOf = (head: Head): string =>
  `${head.name} ${head.iteration ? `${head.iteration}${head.max ? `/${head.max}` : ""}` : ""}`.trim();
