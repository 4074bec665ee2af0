// What a start would run and where it would send texts and keys, shown to be agreed to. Allowing is never
// what a hasty Enter does.
import * as vscode from "vscode";
import type { Answer } from "./settle";

const ALLOW = "Allow and Run";
const DETAILS = "Show Details";
/** A modal message of more lines than this does not fit. */
const MOST_LINES = 12;

/** One line for each thing that the run may do, as a person has to judge it. */
export function consentLines(answer: Answer): string[] {
  return (answer.capabilities ?? []).map((one) => `It ${one}.`);
}

/** Whether the person agreed. Looking at the details is no answer: nothing runs. */
export async function askForConsent(answer: Answer): Promise<boolean> {
  const lines = consentLines(answer);
  const shown = lines.length > MOST_LINES ? [...lines.slice(0, MOST_LINES), `and ${lines.length - MOST_LINES} more: see the details`] : lines;
  const detail = [...shown, "", "You are asked once for each project, and again when this list changes.", `Digest: ${answer.digest ?? "none"}`];
  const choice = await vscode.window.showWarningMessage(
    "This run starts programs or sends texts away. Allow it?",
    { modal: true, detail: detail.join("\n") },
    DETAILS, // the first is what Enter takes
    ALLOW,
  );
  if (choice === DETAILS) await show(lines, answer.digest ?? "none");
  return choice === ALLOW;
}

async function show(lines: string[], digest: string): Promise<void> {
  const content = [
    "# What this run would do",
    "",
    ...lines.map((line) => `* ${line}`),
    "",
    "Nothing was started. Run it again to allow it.",
    "",
    `Digest of this list: ${digest}`,
    "",
  ].join("\n");
  await vscode.window.showTextDocument(await vscode.workspace.openTextDocument({ language: "markdown", content }));
}
