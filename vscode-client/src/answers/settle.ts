// What to do with a command's typed answer: ask for what is missing and call again, show a refusal
// as a sentence, stay quiet on success. Knows the shapes of the protocol, nothing of the transport.
import * as vscode from "vscode";

export interface Answer {
  ok: boolean;
  code?: string;
  message?: string;
  hint?: string;
  names?: string[];
  programs?: string[][];
  endpoints?: { host?: string; url?: string; variable?: string; provider?: string }[];
  digest?: string;
  [key: string]: unknown;
}

export type Argument = Record<string, unknown>;
export type Call = (argument: Argument) => Promise<Answer | undefined>;

const TOP_LEVEL = new Set(["input", "goal", "message"]);

/** Calls, and calls again with what the answer asked for, until it is settled or the person gives up. */
export async function settle(call: Call, argument: Argument): Promise<Answer | undefined> {
  let current = argument;
  for (let round = 0; round < 4; round++) {
    const answer = await call(current);
    if (!answer || answer.ok) return answer;
    const next = await nextArgument(answer, current);
    if (!next) return answer;
    current = next;
  }
  return undefined;
}

async function nextArgument(answer: Answer, argument: Argument): Promise<Argument | undefined> {
  switch (answer.code) {
    case "input_required":
      return askForInputs(answer.names ?? ["input"], argument);
    case "consent_required":
      return askForConsent(answer, argument);
    default:
      showRefusal(answer);
      return undefined;
  }
}

async function askForInputs(names: string[], argument: Argument): Promise<Argument | undefined> {
  const next: Argument = { ...argument };
  const parameters: Record<string, unknown> = { ...(argument.parameters as object | undefined) };
  for (const name of names) {
    const value = await vscode.window.showInputBox({
      title: `Run: ${name}`,
      prompt: `Text for {{${name}}}`,
      ignoreFocusOut: true,
    });
    if (value === undefined) return undefined;
    if (TOP_LEVEL.has(name)) next[name] = value;
    else parameters[name] = value;
  }
  if (Object.keys(parameters).length) next.parameters = parameters;
  return next;
}

/** One line per program and endpoint, as a person has to judge them. */
export function consentLines(answer: Answer): string[] {
  const programs = (answer.programs ?? []).map((argv) => `runs: ${argv.join(" ")}`);
  const endpoints = (answer.endpoints ?? []).map((endpoint) => {
    const where = endpoint.host ?? endpoint.url ?? endpoint.provider ?? "?";
    return endpoint.variable ? `sends texts and the key in ${endpoint.variable} to ${where}` : `sends texts to ${where}`;
  });
  return [...programs, ...endpoints];
}

async function askForConsent(answer: Answer, argument: Argument): Promise<Argument | undefined> {
  const detail = consentLines(answer).join("\n");
  const choice = await vscode.window.showWarningMessage(
    "This run needs your consent once.",
    { modal: true, detail },
    "Allow and run",
  );
  return choice === "Allow and run" ? { ...argument, consent: answer.digest } : undefined;
}

function showRefusal(answer: Answer): void {
  const sentence = [answer.message ?? `The server refused (${answer.code ?? "no code"}).`, answer.hint].filter(Boolean).join(" ");
  if (answer.code === "file_has_errors") {
    void vscode.window.showErrorMessage(sentence, "Show Problems").then((choice) => {
      if (choice) void vscode.commands.executeCommand("workbench.actions.view.problems");
    });
    return;
  }
  void vscode.window.showErrorMessage(sentence);
}
