// Texts of runs as documents of the editor: whole outputs, questions, prompts, changes, and two outputs side by side.
// Read-only, asked for when they are opened, so that they are there again after a reload.
import * as vscode from "vscode";
import type { Server } from "../part";
import type { View } from "./view";
import { historyOf, type Json, promptsAt } from "./details";
import { SCHEME } from "./scheme";
import type { Row } from "./shape";

export type What = "output" | "question" | "prompt" | "diff";

interface Address {
  runId: string;
  what: What;
  id: string;
  first: number;
  last: number;
  kind: Row["kind"];
}

/** `loop-run:/haiku/iteration 3/output.md?{...}`: the path is what a tab shows. */
export function addressOf(runId: string, name: string, row: Row, what: What): vscode.Uri {
  const which = row.kind === "step" ? row.name : `${row.number}${row.attempt > 1 ? `.${row.attempt}` : ""}`;
  const address: Address = { runId, what, id: row.id, first: row.first, last: row.last, kind: row.kind };
  const end = what === "diff" ? "diff" : "md";
  return vscode.Uri.from({
    scheme: SCHEME,
    path: `/${name.replaceAll("/", "_")}/${which} ${what}.${end}`,
    query: JSON.stringify(address),
  });
}

export class RunDocuments implements vscode.TextDocumentContentProvider {
  constructor(
    private readonly server: Server,
    private readonly viewOf: (runId: string) => View | undefined,
  ) {}

  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    const address = JSON.parse(uri.query) as Address;
    if (address.what === "diff") return this.diffOf(address);
    const row = { id: address.id, first: address.first, last: address.last, kind: address.kind } as Row;
    if (address.what === "prompt") {
      const found = await promptsAt(this.server, address.runId, row);
      return typeof found === "string" ? found : found.map(exchange).join("\n\n");
    }
    const told = await historyOf(this.server, address.runId, row);
    return "problem" in told ? told.problem : String(told.row[address.what] ?? "");
  }

  private diffOf(address: Address): string {
    const round = this.viewOf(address.runId)?.rounds().find((one) => one.row === address.id);
    return round?.diff ?? "Open the run to see this change.";
  }
}

/** A prompt with its answer, as a piece of a document. */
const exchange = (one: Json): string => {
  const prompt = `## ${String(one.place)}\n\n${String(one.prompt)}`;
  return typeof one.answer === "string" ? `${prompt}\n\n### Answer\n\n${one.answer}` : prompt;
};
