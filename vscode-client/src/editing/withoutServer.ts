// Snippets as completion while no server runs: the same as the server's own, which offers them better, at the
// right place and in the style of the file, as soon as it is there.
import * as vscode from "vscode";
import json from "../../snippets/json.code-snippets.json";
import yaml from "../../snippets/yaml.code-snippets.json";
import type { Part, Server, ServerStatus } from "../part";
import { isLoopFile } from "../server/ours";

interface Snippet {
  description: string;
  body: string[];
  isFileTemplate?: boolean;
}

const SNIPPETS: Record<string, Record<string, Snippet>> = { yaml, json };
const WITHOUT_SERVER: ReadonlySet<ServerStatus> = new Set(["missing", "failed", "stopped"]);

export const withoutServerPart: Part = ({ server }) => [
  vscode.languages.registerCompletionItemProvider(["yaml", "json"], {
    provideCompletionItems: (document, position) => snippetsAt(server, document, position),
  }),
];

/** Whole files where there is none yet; parts where a line of a list begins. */
export function snippetsAt(server: Pick<Server, "status">, document: vscode.TextDocument, position: vscode.Position): vscode.CompletionItem[] {
  if (!WITHOUT_SERVER.has(server.status)) return [];
  const empty = /^\s*[\w-]*\s*$/.test(document.getText()); // but for the word that is typed
  const before = document.lineAt(position.line).text.slice(0, position.character);
  if (!empty && (!isLoopFile(document) || !/^\s*\w*$/.test(before))) return [];
  return Object.entries(SNIPPETS[document.languageId] ?? {})
    .filter(([, { isFileTemplate }]) => (isFileTemplate ?? false) === empty)
    .map(([label, { description, body }]) => {
      const item = new vscode.CompletionItem(label, vscode.CompletionItemKind.Snippet);
      item.detail = description;
      item.insertText = new vscode.SnippetString(body.join("\n"));
      return item;
    });
}
