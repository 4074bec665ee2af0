// What a start would run and where it would send texts and keys, shown to be agreed to. Allowing is never
// what a hasty Enter does.
import * as vscode from "vscode";
import type { Answer } from "./settle";

const ALLOW = "Allow and Run";
const DETAILS = "Show Details";
/** A modal message of more lines than this does not fit. */
const MOST_LINES = 12;
/** Of a longer line the beginning and the end are shown: it would push the others out of the window. */
const BEGINNING = 200;
const END = 100;

/** One line for each thing that the run may do, as a person has to judge it. */
export function consentLines(answer: Answer): string[] {
  return (answer.capabilities ?? []).map((one) => `It ${one}.`);
}

/** Whether the person agreed. Looking at the details is no answer: nothing runs. */
export async function askForConsent(answer: Answer): Promise<boolean> {
  const lines = consentLines(answer);
  const fitting = lines.slice(0, MOST_LINES).map(brief);
  const shown = lines.length > MOST_LINES ? [...fitting, `and ${lines.length - MOST_LINES} more: see the details`] : fitting;
  const detail = [...shown, "", "You are asked once per project, and again when this list changes.", `Digest: ${answer.digest ?? "none"}`];
  const choice = await vscode.window.showWarningMessage(
    "This run will execute programs or send data to external services. Allow?",
    { modal: true, detail: detail.join("\n") },
    DETAILS, // the first is what Enter takes
    ALLOW,
  );
  if (choice === DETAILS) await show(lines, answer.digest ?? "none");
  return choice === ALLOW;
}

function brief(line: string): string {
  const left = line.length - BEGINNING - END;
  return left <= 0 ? line : `${line.slice(0, BEGINNING)} … ${left} more characters, see the details … ${line.slice(-END)}`;
}

async function show(lines: string[], digest: string): Promise<void> {
  const content = [
    "# What this run would do",
    "",
    ...lines.map((line) => `* ${line}`),
    "",
    "Nothing was started. Run it again to allow it.",
    "",
    `Fingerprint of this list: ${digest}`,
    "",
  ].join("\n");
  await vscode.window.showTextDocument(await vscode.workspace.openTextDocument({ language: "markdown", content }));
}
