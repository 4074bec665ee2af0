// Asks for one text of a start: in an input box that shows what was typed the last time, or, for long
// texts, in a document of its own. Gives back undefined when the person gave up.
import * as vscode from "vscode";
import type { Input, InputForm } from "../editing/forms/inputForm";
import { isSecret, type Memory, type Place } from "./memory";

/** What the server knows of a field besides its name. */
export interface Field {
  name: string;
  description?: string;
  default?: string;
  choices?: string[];
}

const SENTENCES: Record<string, string> = {
  input: "Input of the workflow, available as {{input}}",
  goal: "Goal of the loop",
  message: "Task for the assistant",
};

const IN_DOCUMENT = { iconPath: new vscode.ThemeIcon("edit"), tooltip: "Write a Longer Text in an Editor" };
const GO_ON = "Run with This Text";

export async function askFor(field: Field, place: Place, memory: Memory): Promise<string | undefined> {
  const last = memory.last(place, field.name) ?? field.default ?? "";
  const given = field.choices?.length ? await choose(field, last) : await type(field, titleOf(field, place), last);
  if (given !== undefined) memory.keep(place, field.name, given);
  return given;
}

/** Several texts in one form, with what was given the last time; undefined when the person gave up. */
export async function askForAll(fields: readonly Field[], place: Place, memory: Memory): Promise<Record<string, string> | undefined> {
  const file = (place.uri ?? "").split("/").at(-1) ?? "";
  const inputs = fields.map((field): Input => {
    const secret = isSecret(field.name);
    const last = memory.last(place, field.name) ?? field.default ?? "";
    return { name: field.name, help: sentenceOf(field), last, choices: field.choices, secret, long: field.name in SENTENCES || last.includes("\n") };
  });
  const asked: InputForm = {
    key: JSON.stringify(["run", place.uri, place.target?.kind, place.target?.name]),
    title: `Run ${place.target?.name ?? "workflow"}`,
    about: decodeURIComponent(file),
    inputs,
  };
  const given = await vscode.commands.executeCommand<Record<string, string> | undefined>("loopLs.client.inputForm", asked);
  for (const [name, text] of Object.entries(given ?? {})) memory.keep(place, name, text);
  return given;
}

const titleOf = ({ name }: Field, { target }: Place): string => `Run ${target?.name ?? "workflow"}: ${name}`;

const sentenceOf = ({ name, description }: Field): string =>
  description?.replace(/[.\s]+$/, "") || (SENTENCES[name] ?? `Text for {{${name}}}`);

async function choose({ name, description, choices = [] }: Field, last: string): Promise<string | undefined> {
  const ordered = [...choices].sort((left, right) => Number(right === last) - Number(left === last));
  return vscode.window.showQuickPick(ordered, { title: `Run: ${name}`, placeHolder: description, ignoreFocusOut: true });
}

function type(field: Field, title: string, last: string): Promise<string | undefined> {
  const secret = isSecret(field.name);
  const long = last.includes("\n"); // an input box would lose its lines
  const box = vscode.window.createInputBox();
  box.title = title;
  box.prompt = secret ? `${sentenceOf(field)}; it is not remembered` : sentenceOf(field);
  box.password = secret;
  box.ignoreFocusOut = true;
  if (!secret) box.buttons = [IN_DOCUMENT];
  if (long) box.placeholder = `${last.split("\n").length} lines the last time; the pencil opens them`;
  else box.value = last;
  return new Promise((resolve) => {
    let leaving: Promise<string | undefined> | undefined;
    box.onDidAccept(() => {
      leaving = Promise.resolve(box.value);
      box.hide();
    });
    box.onDidTriggerButton(() => {
      leaving = write(title, box.value || last);
      box.hide();
    });
    box.onDidHide(() => {
      box.dispose();
      resolve(leaving);
    });
    box.show();
  });
}

/** In a document that belongs to nobody; it closes again when it is taken. */
async function write(title: string, content: string): Promise<string | undefined> {
  const document = await vscode.workspace.openTextDocument({ language: "markdown", content });
  await vscode.window.showTextDocument(document);
  const chosen = await vscode.window.showInformationMessage(`${title}: write the text, then run.`, GO_ON, "Cancel");
  const text = document.getText();
  await close(document);
  return chosen === GO_ON ? text : undefined;
}

async function close(document: vscode.TextDocument): Promise<void> {
  if (document.isClosed) return;
  await vscode.window.showTextDocument(document);
  await vscode.commands.executeCommand("workbench.action.revertAndCloseActiveEditor");
}
