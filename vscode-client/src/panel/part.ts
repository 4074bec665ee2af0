// The way to the panels of runs: `loopLs.client.openRun` and the documents that a panel opens. Reads the panels
// themselves when the first of either is asked for: most windows only edit. The serializer is registered by the
// extension's door, which wakes us and hands the panel over.
import * as vscode from "vscode";
import type { Part } from "../part";
import type { Panels } from "./panels";
import { SCHEME } from "./scheme";

export const panelPart: Part = (around) => {
  let loaded: Promise<Panels> | undefined;
  const panels = (): Promise<Panels> => (loaded ??= import("./panels.js").then((room) => new room.Panels(around)));
  return [
    vscode.commands.registerCommand("loopLs.client.openRun", async (given?: unknown, restored?: vscode.WebviewPanel) =>
      (await panels()).open(given, restored),
    ),
    vscode.workspace.registerTextDocumentContentProvider(SCHEME, {
      provideTextDocumentContent: async (uri) => (await panels()).provideTextDocumentContent(uri),
    }),
    { dispose: () => void loaded?.then((open) => open.dispose()) },
  ];
};
