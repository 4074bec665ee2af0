// Panels of runs: one for each run, opened beside the editor, restored after a reload. A bundle of its own, read
// with the first run that somebody opens (`part.ts`).
import * as vscode from "vscode";
import type { Surroundings } from "../part";
import { hasEnded, type RunState } from "../runs/state";
import { asItem } from "../views/choosing";
import { RunDocuments } from "./documents";
import { RunPanel } from "./runPanel";
import type { Tab } from "./shape";

export const VIEW_TYPE = "loopLs.run";

interface Wanted {
  runId?: string;
  iteration?: number;
  tab?: Tab;
  /** Opened by itself, since the run was started here. */
  started?: boolean;
}

export class Panels implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly shown = new Map<string, RunPanel>();
  private readonly documents: RunDocuments;
  /** The panel that opened by itself the last time. */
  private last: RunPanel | undefined;

  constructor(private readonly around: Surroundings) {
    this.documents = new RunDocuments(around.server, (runId) => this.shown.get(runId)?.view);
  }

  async open(given: unknown, restored?: vscode.WebviewPanel): Promise<void> {
    const wanted = wantedOf(given) ?? (restored ? undefined : await choose(this.around));
    if (!wanted?.runId) return restored?.dispose();
    const { runId, iteration, tab, started } = wanted;
    const shown = this.shown.get(runId);
    if (shown && started) return;
    if (shown && !restored) {
      shown.panel.reveal(undefined, false);
      shown.reveal(iteration, tab);
      return;
    }
    shown?.panel.dispose();
    const name = this.around.runs.get(runId)?.name ?? "Run";
    const panel = restored ?? vscode.window.createWebviewPanel(VIEW_TYPE, name, { viewColumn: this.column(), preserveFocus: true });
    const icon = (shade: string) => vscode.Uri.joinPath(this.around.context.extensionUri, "images", `run-${shade}.svg`);
    panel.iconPath = { light: icon("light"), dark: icon("dark") };
    const closed = () => {
      if (this.shown.get(runId)?.panel === panel) this.shown.delete(runId);
    };
    const page = new RunPanel(runId, panel, this.around, { iteration, tab }, closed);
    this.shown.set(runId, page);
    if (started) this.instead(page);
  }

  /** One panel at a time opens by itself: the one before goes, unless its run goes on or somebody looked into it. */
  private instead(page: RunPanel): void {
    const { last } = this;
    this.last = page;
    const state = last && this.around.runs.get(last.runId);
    if (last && !last.used && state && hasEnded(state) && this.shown.get(last.runId) === last) last.panel.dispose();
  }

  /** Where runs are shown already; a second one makes no third column. */
  private column(): vscode.ViewColumn {
    const shown = [...this.shown.values()].map(({ panel }) => panel.viewColumn);
    return shown.find((column) => column !== undefined) ?? vscode.ViewColumn.Beside;
  }

  provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    return this.documents.provideTextDocumentContent(uri);
  }

  dispose(): void {
    this.shown.forEach((panel) => panel.dispose());
  }
}

/** An argument of ours, the state of a panel, or an item of a tree. */
function wantedOf(given: unknown): Wanted | undefined {
  const argument = given as (Wanted & { state?: { runId?: string } }) | string | undefined | null;
  if (typeof argument === "string") return { runId: argument };
  const runId = argument?.runId ?? argument?.state?.runId;
  if (!runId) return undefined;
  const iteration = typeof argument?.iteration === "number" ? argument.iteration : undefined;
  return { runId, iteration, tab: argument?.tab, started: argument?.started === true };
}

/** From the palette: which of the last runs. */
async function choose(around: Surroundings): Promise<Wanted | undefined> {
  const answer = await around.server.ask("loopLs.runs", { limit: 50 });
  const runs = answer?.ok && Array.isArray(answer.runs) ? (answer.runs as RunState[]) : [];
  if (runs.length === 0) {
    void vscode.window.showInformationMessage("No runs yet. Start one with the lens above a loop.");
    return undefined;
  }
  const items = runs.map((state) => ({ ...asItem(state), detail: [state.path, state.runId.slice(0, 8)].filter(Boolean).join(" · ") }));
  const chosen = await vscode.window.showQuickPick(items, { title: "Open run", matchOnDescription: true, matchOnDetail: true });
  return chosen && { runId: chosen.runId };
}
