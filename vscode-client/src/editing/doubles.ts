// Leaves out of our findings what the editor's own JSON support says of the same file anyway: that a text is no
// JSON. Everything else is ours alone.
import * as vscode from "vscode";

const NO_JSON = new Set(["AL001", "RL001"]);

export function withoutDoubles(document: vscode.TextDocument | undefined, findings: vscode.Diagnostic[]): vscode.Diagnostic[] {
  if (document?.languageId !== "json" || isJson(document.getText())) return findings;
  if (vscode.workspace.getConfiguration("json", document.uri).get("validate.enable") === false) return findings;
  return findings.filter(({ code }) => !NO_JSON.has(String(typeof code === "object" ? code.value : code)));
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
