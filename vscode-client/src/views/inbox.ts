// Everything that waits for a person, of all runs and of every kind, in one list to answer from.
import * as vscode from "vscode";
import type { Inbox, Waiting } from "../contract/answers";
import type { Part, Server } from "../part";
import { excerpt } from "../runs/words";

const ICONS: Record<Waiting["kind"], string> = {
  approval: "comment-unresolved",
  protected: "shield",
  blocked: "question",
  question: "sync",
  quota: "clock",
  pause: "debug-pause",
  interrupted: "debug-disconnect",
};

export const inboxPart: Part = ({ server }) => [vscode.commands.registerCommand("loopLs.client.inbox", () => openInbox(server))];

async function openInbox(server: Server): Promise<void> {
  const answer = await server.run("loopLs.inbox", {});
  if (!answer?.ok) return;
  const { waiting } = answer as unknown as Inbox;
  if (waiting.length === 0) return void vscode.window.showInformationMessage("Nothing is waiting for you.");
  const rows = waiting.map((one) => ({
    label: `$(${ICONS[one.kind]}) ${one.text.replaceAll("`", "")}`,
    detail: excerpt(one.context, 200) || undefined,
    one,
  }));
  const picked = await vscode.window.showQuickPick(rows, { title: "What is waiting for you?", matchOnDetail: true });
  if (picked) await answerTo(server, picked.one);
}

async function answerTo(server: Server, waiting: Waiting): Promise<void> {
  const title = waiting.text.replaceAll("`", "");
  const options = waiting.answers.map((option) => ({ label: option.title, option }));
  const picked = await vscode.window.showQuickPick(options, { title });
  if (!picked) return;
  const { answer } = picked.option;
  const text = picked.option.text ? await vscode.window.showInputBox({ title, prompt: "Text for the run (optional)", ignoreFocusOut: true }) : "";
  if (text === undefined) return;
  const { runId, id } = waiting;
  await server.run("loopLs.answer", { runId, answer, ...(text ? { text } : {}), ...(id ? { question: id } : {}) });
}
