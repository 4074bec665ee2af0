// Opens the forms for the file that is meant, and saves them through the server, which edits only what changed
// and leaves comments alone. A bundle of its own, read with the first form (`part.ts`).
import * as path from "node:path";
import * as vscode from "vscode";
import type { Answer } from "../../answers/settle";
import type { Server } from "../../part";
import { assistantForm } from "./assistantForm";
import { enhanceForm } from "./enhanceForm";
import type { Problem, Saved, Values } from "./form";
import { showForm } from "./page";

const ASSISTANT_FILE = /\.assistant\.(ya?ml|json)$/;

export async function openAssistant(extension: vscode.Uri, server: Server, uri: vscode.Uri | undefined, name?: string): Promise<void> {
  if (!uri || !ASSISTANT_FILE.test(uri.path)) {
    return tell("Open an assistant first: a file whose name ends in .assistant.yaml, .assistant.yml or .assistant.json.");
  }
  const document = await vscode.workspace.openTextDocument(uri);
  const answer = await asked(server, "loopLs.assistant.setup", { uri: uri.toString(), ...(name ? { name } : {}) });
  if (!answer) return;
  const chosen = name ? answer : await oneOf(server, uri, answer);
  if (!chosen) return;
  const form = assistantForm(String(chosen.name), path.posix.basename(uri.path), chosen.values as Values);
  showForm(extension, `${uri.toString()}#${String(chosen.key)}`, form, async (values) => {
    const wasDirty = document.isDirty;
    const saved = await asked(server, "loopLs.assistant.setup", { uri: uri.toString(), name: chosen.key, values });
    if (saved?.changed === true && !wasDirty) await document.save();
    return saved && outcome(saved, saved.changed === true);
  });
}

/** Which of the assistants of a file; the only one is not asked for. */
async function oneOf(server: Server, uri: vscode.Uri, answer: Answer): Promise<Answer | undefined> {
  const there = answer.assistants as { key: string; name: string; enabled: boolean }[];
  if (there.length < 2) return answer;
  const rows = there.map((one) => ({ label: one.name, description: one.enabled ? "loops" : "", key: one.key }));
  const row = await vscode.window.showQuickPick(rows, { title: "Loop of which assistant?" });
  return row && asked(server, "loopLs.assistant.setup", { uri: uri.toString(), name: row.key });
}

export { askInForm } from "./inputForm";

export async function openEnhance(extension: vscode.Uri, server: Server, uri: vscode.Uri | undefined): Promise<void> {
  const folder = (uri && vscode.workspace.getWorkspaceFolder(uri)) ?? vscode.workspace.workspaceFolders?.[0];
  if (!folder) return tell("Open a folder first: the setup is kept in its .loop-ls.yaml.");
  const where = (uri ?? folder.uri).toString();
  const answer = await asked(server, "loopLs.enhance.setup", { uri: where });
  if (!answer) return;
  const form = enhanceForm(`${folder.name} · .loop-ls.yaml`, six(answer, "values"), six(answer, "defaults"), String(answer.advice ?? ""));
  showForm(extension, `${folder.uri.toString()}#enhance`, form, async (values) => {
    const saved = await asked(server, "loopLs.enhance.setup", { uri: where, values });
    return saved && outcome({ ...saved, values: six(saved, "values") }, Object.keys(values).length > 0);
  });
}

const six = (answer: Answer, name: string): Values => {
  const all = answer[name] as Values;
  return Object.fromEntries((answer.fields as unknown as string[]).map((field) => [field, all[field] ?? ""]));
};

const outcome = (answer: Answer, changed: boolean): Saved => {
  const problems = answer.problems as Problem[];
  const told = problems.length ? "Not saved: see above." : changed ? "Saved." : "Nothing to save.";
  return { values: answer.values as Values, problems, told };
};

async function asked(server: Server, command: string, argument: Record<string, unknown>): Promise<Answer | undefined> {
  const answer = await server.ask(command, argument);
  if (answer?.ok) return answer;
  const sentence = answer ? [answer.message, answer.hint].filter(Boolean).join(" ") : "The language server is not running; see Loop: Doctor.";
  await vscode.window.showErrorMessage(sentence);
  return undefined;
}

async function tell(sentence: string): Promise<void> {
  await vscode.window.showInformationMessage(sentence);
}
