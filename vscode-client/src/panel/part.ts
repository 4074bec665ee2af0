// Panels of runs: one for each run, opened beside the editor by `loopLs.client.openRun`, restored after a reload.
// The serializer is registered by the extension's door, which wakes us and hands the panel over.
import * as vscode from "vscode";
import type { Part, Surroundings } from "../part";
import { RunDocuments, SCHEME } from "./documents";
import { RunPanel } from "./runPanel";

export const VIEW_TYPE = "loopLs.run";

interface Wanted {
  runId?: string;
  iteration?: number;
}

export const panelPart: Part = (around) => {
  const panels = new Map<string, RunPanel>();
  const documents = new RunDocuments(around.server, (runId) => panels.get(runId)?.book);
  return [
    vscode.commands.registerCommand("loopLs.client.openRun", (given?: unknown, restored?: vscode.WebviewPanel) =>
      open(around, panels, given, restored),
    ),
    vscode.workspace.registerTextDocumentContentProvider(SCHEME, documents),
    { dispose: () => panels.forEach((panel) => panel.dispose()) },
  ];
};

async function open(
  around: Surroundings,
  panels: Map<string, RunPanel>,
  given: unknown,
  restored?: vscode.WebviewPanel,
): Promise<void> {
  const wanted = wantedOf(given) ?? (restored ? undefined : await choose(around));
  if (!wanted?.runId) return restored?.dispose();
  const { runId, iteration } = wanted;
  const shown = panels.get(runId);
  if (shown && !restored) {
    shown.panel.reveal(undefined, false);
    shown.reveal(iteration);
    return;
  }
  shown?.panel.dispose();
  const name = around.runs.get(runId)?.name ?? "Run";
  const panel = restored ?? vscode.window.createWebviewPanel(VIEW_TYPE, name, { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true });
  const icon = (shade: string) => vscode.Uri.joinPath(around.context.extensionUri, "images", `run-${shade}.svg`);
  panel.iconPath = { light: icon("light"), dark: icon("dark") };
  panels.set(
    runId,
    new RunPanel(runId, panel, around, iteration, () => {
      if (panels.get(runId)?.panel === panel) panels.delete(runId);
    }),
  );
}

/** An argument of ours, the state of a panel, or an item of a tree. */
function wantedOf(given: unknown): Wanted | undefined {
  const argument = given as (Wanted & { state?: { runId?: string } }) | string | undefined | null;
  if (typeof argument === "string") return { runId: argument };
  const runId = argument?.runId ?? argument?.state?.runId;
  return runId ? { runId, iteration: typeof argument?.iteration === "number" ? argument.iteration : undefined } : undefined;
}

/** From the palette: which of the last runs. */
async function choose(around: Surroundings): Promise<Wanted | undefined> {
  const answer = await around.server.ask("loopLs.runs", { limit: 50 });
  const runs = answer?.ok && Array.isArray(answer.runs) ? (answer.runs as Record<string, unknown>[]) : [];
  if (runs.length === 0) {
    void vscode.window.showInformationMessage("There is no run yet. Start one with the lens above a loop.");
    return undefined;
  }
  const items = runs.map((state) => ({
    label: String(state.name ?? state.runId),
    description: [state.status, state.reason].filter(Boolean).join(", ").replaceAll("_", " "),
    detail: `${String(state.startedAt ?? "")} · ${String(state.runId)}`,
    runId: String(state.runId),
  }));
  const chosen = await vscode.window.showQuickPick(items, { title: "Open run", matchOnDescription: true, matchOnDetail: true });
  return chosen && { runId: chosen.runId };
}
