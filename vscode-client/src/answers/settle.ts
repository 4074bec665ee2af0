// What to do with a command's typed answer: ask for what is missing and call again, show a refusal
// as a sentence, stay quiet on success. Knows the shapes of the protocol, nothing of the transport.
import * as vscode from "vscode";
import { askFor, askForAll, type Field } from "./asking";
import { askForConsent } from "./consent";
import type { Memory } from "./memory";

export interface Answer {
  ok: boolean;
  code?: string;
  message?: string;
  hint?: string;
  names?: string[];
  fields?: Field[];
  /** What the run may do, a sentence each without its subject. */
  capabilities?: string[];
  digest?: string;
  /** The number of the question of consent: what an answer to it says. */
  nonce?: string;
  [key: string]: unknown;
}

export type Argument = Record<string, unknown>;
export type Call = (argument: Argument) => Promise<Answer | undefined>;

const TOP_LEVEL = new Set(["input", "goal", "message"]);

/** Calls, and calls again with what the answer asked for, until it is settled or the person gives up. */
export async function settle(call: Call, argument: Argument, memory: Memory): Promise<Answer | undefined> {
  let current = argument;
  for (let round = 0; round < 4; round++) {
    const answer = await call(current);
    if (!answer || answer.ok) return answer;
    const next = await nextArgument(answer, current, memory);
    if (!next) return answer;
    current = next;
  }
  return undefined;
}

async function nextArgument(answer: Answer, argument: Argument, memory: Memory): Promise<Argument | undefined> {
  switch (answer.code) {
    case "input_required":
      return withTexts(answer, argument, memory);
    case "consent_required":
      return (await askForConsent(answer)) ? { ...argument, consent: answer.nonce } : undefined;
    default:
      showRefusal(answer);
      return undefined;
  }
}

async function withTexts(answer: Answer, argument: Argument, memory: Memory): Promise<Argument | undefined> {
  const next: Argument = { ...argument };
  const parameters: Record<string, unknown> = { ...(argument.parameters as object | undefined) };
  const names = answer.names ?? ["input"];
  const fields = names.map((name): Field => ({ ...answer.fields?.find((field) => field.name === name), name }));
  const given = await textsFor(fields, argument, memory);
  if (!given) return undefined;
  for (const [name, value] of Object.entries(given)) {
    if (TOP_LEVEL.has(name)) next[name] = value;
    else parameters[name] = value;
  }
  if (Object.keys(parameters).length) next.parameters = parameters;
  return next;
}

/** One text in a box, several in a form; undefined when the person gave up. */
async function textsFor(fields: readonly Field[], argument: Argument, memory: Memory): Promise<Record<string, string> | undefined> {
  const [first, ...others] = fields;
  if (!first) return {};
  if (others.length) return askForAll(fields, argument, memory);
  const value = await askFor(first, argument, memory);
  return value === undefined ? undefined : { [first.name]: value };
}

function showRefusal(answer: Answer): void {
  const sentence = [answer.message ?? `The server rejected the request (${answer.code ?? "no code"}).`, answer.hint].filter(Boolean).join(" ");
  if (answer.code === "file_has_errors") {
    void vscode.window.showErrorMessage(sentence, "Show Problems").then((choice) => {
      if (choice) void vscode.commands.executeCommand("workbench.actions.view.problems");
    });
    return;
  }
  if (answer.code === "not_trusted") {
    void vscode.window.showWarningMessage(sentence, "Manage Trust").then((choice) => {
      if (choice) void vscode.commands.executeCommand("workbench.trust.manage");
    });
    return;
  }
  // With a choice the editor shows all of the sentence, and not only its first line.
  void vscode.window.showErrorMessage(sentence, "Show Log").then((choice) => {
    if (choice) void vscode.commands.executeCommand("loopLs.client.showLog");
  });
}
