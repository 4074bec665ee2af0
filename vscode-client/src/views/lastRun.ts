// The language status of a loop file: the state of its last run, in the words of the lens. Asked from the
// engine's records when a file comes to the front, so that it survives a restart; then fed by the store.
import * as vscode from "vscode";
import type { Part, Server } from "../part";
import { endedAtLimit, hasEnded, type RunState } from "../runs/state";
import type { RunStore } from "../runs/store";
import { lineOfRun, nameOf, since } from "../runs/words";
import { isLoopFile } from "../server/ours";

/** Only "10 minutes ago" grows old by itself. */
const MINUTE = 60_000;
/** It is there only while a loop file is in front, so it need not say which. */
const ANY = [{ scheme: "file" }, { scheme: "untitled" }];

export const lastRunPart: Part = ({ server, runs }) => {
  const shown = new LastRun(server, runs);
  return [
    shown,
    runs.onDidChange(({ state }) => shown.changed(state)),
    runs.onDidRemove(() => shown.draw()),
    server.onDidChangeStatus(() => shown.look()),
    vscode.window.onDidChangeActiveTextEditor(() => shown.look()),
  ];
};

class LastRun implements vscode.Disposable {
  private item: vscode.LanguageStatusItem | undefined;
  private uri: string | undefined;
  private readonly known = new Set<string>();
  private readonly clock = setInterval(() => this.draw(), MINUTE);

  constructor(
    private readonly server: Server,
    private readonly runs: RunStore,
  ) {
    this.look();
  }

  /** Another file is in front, or the server came: ask once for each file. */
  look(): void {
    const document = vscode.window.activeTextEditor?.document;
    this.uri = document && isLoopFile(document) ? document.uri.toString() : undefined;
    const status = this.server.status;
    if (status === "stopped" || status === "starting") this.known.clear();
    if (this.uri !== undefined && status === "ready" && !this.known.has(this.uri)) void this.read(this.uri);
    this.draw();
  }

  changed(state: RunState): void {
    if (state.uri !== undefined && sameFile(state.uri, this.uri)) this.draw();
  }

  draw(): void {
    if (this.uri === undefined || !this.known.has(this.uri)) {
      this.item?.dispose();
      this.item = undefined;
      return;
    }
    this.item ??= vscode.languages.createLanguageStatusItem("loopLs.lastRun", []);
    const last = this.runs.newest((state) => state.uri !== undefined && sameFile(state.uri, this.uri));
    Object.assign(this.item, statusOf(last), { name: "Loop: last run", selector: ANY });
  }

  dispose(): void {
    clearInterval(this.clock);
    this.item?.dispose();
  }

  private async read(uri: string): Promise<void> {
    const answer = await this.server.ask("loopLs.runs", { uri, limit: 1 }).catch(() => undefined);
    if (!answer?.ok) return;
    for (const state of (answer.runs as RunState[] | undefined) ?? []) this.runs.take(state);
    this.known.add(uri);
    this.draw();
  }
}

const sameFile = (left: string, right: string | undefined): boolean => right !== undefined && (left === right || vscode.Uri.parse(left).toString() === right);

type Status = Pick<vscode.LanguageStatusItem, "text" | "detail" | "severity" | "busy" | "command">;

/** The last run of a file; undefined: it never ran. */
export function statusOf(state: RunState | undefined, now = Date.now()): Status {
  const { Error, Warning, Information } = vscode.LanguageStatusSeverity;
  if (!state) return { text: "never ran", detail: "Loop", severity: Information, busy: false, command: undefined };
  const ended = hasEnded(state);
  const failed = state.status === "failed" || state.status === "blocked";
  const when = ended ? since(state.endedAt, now) : "";
  return {
    text: [lineOfRun(state), when].filter(Boolean).join(" · "),
    detail: nameOf(state),
    severity: failed ? Error : endedAtLimit(state) ? Warning : Information,
    busy: !ended && state.status !== "paused" && state.status !== "waiting_approval" && state.status !== "interrupted",
    command: { command: "loopLs.client.openRun", title: "Open run", arguments: [{ runId: state.runId }] },
  };
}
