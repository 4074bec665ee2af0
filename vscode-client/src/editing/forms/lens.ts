// The way into the form from the text: a lens above each assistant. Where the assistants stand is the server's
// knowledge; without it there is no lens.
import * as vscode from "vscode";
import type { Part, Server } from "../../part";

const FILES: vscode.DocumentFilter[] = ["**/*.assistant.{yaml,yml}", "**/*.assistant.json"].map((pattern) => ({ pattern }));

export const lensPart: Part = ({ server }) => {
  const changed = new vscode.EventEmitter<void>();
  return [
    changed,
    server.onDidChangeStatus(() => changed.fire()),
    vscode.languages.registerCodeLensProvider(FILES, {
      onDidChangeCodeLenses: changed.event,
      provideCodeLenses: (document) => lenses(server, document),
    }),
  ];
};

export async function lenses(server: Server, document: vscode.TextDocument): Promise<vscode.CodeLens[]> {
  const uri = document.uri.toString();
  const answer = await server.ask("loopLs.assistant.setup", { uri });
  if (!answer?.ok) return [];
  return (answer.assistants as { key: string; line: number }[]).map(({ key, line }) => {
    const command = { title: "Loop settings…", command: "loopLs.client.assistantForm", arguments: [{ uri, name: key }] };
    return new vscode.CodeLens(new vscode.Range(line, 0, line, 0), command);
  });
}
