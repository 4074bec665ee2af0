// Whether an open document is one of our files, told cheaply and before anything is started: by its name, or
// by the first lines of its text. The server decides again, by the whole text; a wrong yes costs a start.
import type * as vscode from "vscode";

const LANGUAGES = new Set(["yaml", "json", "jsonc"]);
const LINES = 400;
const NAMED = /(?:^|\/)(?:\.loop-ls\.yaml|[^/]*\.assistant\.(?:ya?ml|json)|loops\/[^/]*\.json)$/;
const SCHEMA = /^(?:- )?[ \t]*(['"]?)\$schema\1[ \t]*:[ \t]*['"]?workflow\/v2\.0/m;
/** A workflow that says no schema: the server tells its author to add it. */
const LOOKALIKE = [/^name[ \t]*:/m, /^execution[ \t]*:/m, /^(?:steps|loops)[ \t]*:/m];

export function mayBeOurs(document: vscode.TextDocument): boolean {
  return LANGUAGES.has(document.languageId) && (document.uri.scheme === "file" || document.uri.scheme === "untitled");
}

export function isLoopFile(document: vscode.TextDocument): boolean {
  if (!mayBeOurs(document)) return false;
  if (NAMED.test(document.uri.path)) return true;
  return document.languageId === "yaml" && isWorkflowText(firstLines(document));
}

export function isWorkflowText(text: string): boolean {
  return SCHEMA.test(text) || LOOKALIKE.every((sign) => sign.test(text));
}

function firstLines(document: vscode.TextDocument): string {
  const lines = Math.min(document.lineCount, LINES);
  const texts: string[] = [];
  for (let line = 0; line < lines; line++) texts.push(document.lineAt(line).text);
  return texts.join("\n");
}
