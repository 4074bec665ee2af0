// Asks a person what a waiting run needs to know: a message with the decision, once per question and person.
// The server asks nobody while this side does (it is told so at its start); lens, tree and status item are
// there as long as the question is open, whatever became of the message.
import * as vscode from "vscode";
import { ANSWERS, BLOCKED_ANSWERS, type Decision, PROTECTED_ANSWERS } from "../contract/endings";
import type { Part, Server } from "../part";
import { type PendingApproval, questionsOf, type RunState } from "../runs/state";
import type { RunStore } from "../runs/store";
import { excerpt, nameOf } from "../runs/words";
import { chooseRun, type Given } from "./choosing";
import { concernsPerson } from "./endings";

const SHOW = "Show output";
const OUTPUT = "loop-ls-output";

const WAITING = { none: "No loop is waiting for a decision.", fits: (state: RunState) => questionsOf(state).length > 0 };

export const approvalsPart: Part = ({ server, runs }) => {
  const asking = new Asking(server, runs);
  const decide = (verb: "approve" | "reject" | "feedback" | "decide", title: string) =>
    vscode.commands.registerCommand(`loopLs.client.${verb}`, async (given?: Given) => {
      const runId = await chooseRun(runs, given, { ...WAITING, title });
      if (runId !== undefined) await asking.decide(runId, verb);
    });
  return [
    vscode.workspace.registerTextDocumentContentProvider(OUTPUT, asking),
    runs.onDidChange(({ state }) => asking.look(state)),
    vscode.window.onDidChangeWindowState(({ focused }) => {
      if (focused) for (const state of runs.all()) asking.look(state);
    }),
    decide("approve", "Approve which loop?"),
    decide("reject", "Reject which loop?"),
    decide("feedback", "Give feedback to which loop?"),
    decide("decide", "Answer which loop?"),
  ];
};

const keyOf = (state: RunState, question: PendingApproval): string => `${state.runId} ${question.place ?? question.loopId ?? ""}`;

class Asking implements vscode.TextDocumentContentProvider {
  /** Questions whose message was shown in this window. */
  private readonly asked = new Set<string>();
  private readonly shown = new Map<string, string>();

  constructor(
    private readonly server: Server,
    private readonly runs: RunStore,
  ) {}

  /** Only the window that is looked at asks; another one asks when somebody comes to it and it is still open. */
  look(state: RunState): void {
    for (const question of questionsOf(state)) {
      const key = keyOf(state, question);
      if (this.asked.has(key) || !vscode.window.state.focused || !concernsPerson(state)) continue;
      this.asked.add(key);
      void this.ask(state, question);
    }
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.shown.get(uri.toString()) ?? "(this output was shown in an earlier session; open the run to see it)";
  }

  async decide(runId: string, verb: "approve" | "reject" | "feedback" | "decide"): Promise<void> {
    const state = this.runs.get(runId);
    const [question] = state ? questionsOf(state) : [];
    if (!state || !question) return void vscode.window.showInformationMessage("This loop is no longer waiting for a decision.");
    switch (verb) {
      case "approve":
        return question.blocked ? this.ask(state, question) : this.say(state, question, { approved: true });
      case "reject":
        return this.say(state, question, { approved: false });
      case "feedback":
        return this.feedback(state, question);
      case "decide":
        return this.ask(state, question);
    }
  }

  private async ask(state: RunState, question: PendingApproval): Promise<void> {
    const touched = isProtected(question);
    const titles: Record<string, Decision> = {};
    for (const [decision, title] of Object.entries(answersTo(question))) {
      if (decision !== "revise" || question.revise) titles[title] = decision as Decision;
    }
    const show = touched ? vscode.window.showWarningMessage : vscode.window.showInformationMessage;
    const choice = await show(sentenceOf(state, question), ...Object.keys(titles), SHOW);
    if (choice === undefined) return; // put aside: the lens and the status item are still there
    const now = this.runs.get(state.runId);
    if (!now || !questionsOf(now).some((one) => keyOf(now, one) === keyOf(state, question))) {
      return void vscode.window.showInformationMessage(`${nameOf(state)}: another user has already decided.`);
    }
    switch (titles[choice]) {
      case "approve":
        return this.say(state, question, { approved: true });
      case "reject":
        return this.say(state, question, { approved: false });
      case "restore":
        return this.say(state, question, { approved: false, decision: "restore" });
      case "revise":
        return this.feedback(state, question);
      case "retry":
        return this.retry(state, question);
    }
    await this.show(state, question);
    await this.ask(state, question);
  }

  /** The answer without which a stage cannot continue; it may also just try again. */
  private async retry(state: RunState, question: PendingApproval): Promise<void> {
    const feedback = await vscode.window.showInputBox({
      title: sentenceOf(state, question),
      prompt: "It tries again with your answer.",
      ignoreFocusOut: true,
    });
    if (feedback === undefined) return;
    await this.say(state, question, { approved: false, decision: "retry", ...(feedback ? { feedback } : {}) });
  }

  private async feedback(state: RunState, question: PendingApproval): Promise<void> {
    if (question.blocked) return this.retry(state, question);
    if (isProtected(question)) return this.ask(state, question);
    if (!question.revise) {
      const told = `${nameOf(state)} accepts only approve and reject: set \`assistants: {revise: true}\` in .loop-ls.yaml to ask for changes.`;
      return void vscode.window.showInformationMessage(told);
    }
    const feedback = await vscode.window.showInputBox({
      title: `${nameOf(state)}: what should be different?`,
      prompt: "The loop tries again with this feedback.",
      ignoreFocusOut: true,
    });
    if (feedback) await this.say(state, question, { approved: false, decision: "revise", feedback });
  }

  private async say(state: RunState, question: PendingApproval, decision: Record<string, unknown>): Promise<void> {
    const which = question.loopId === undefined ? {} : { loopId: question.loopId };
    await this.server.run("loopLs.approve", { runId: state.runId, ...which, ...decision });
  }

  /** As a document that nobody is asked to save. */
  private async show(state: RunState, question: PendingApproval): Promise<void> {
    const uri = vscode.Uri.from({ scheme: OUTPUT, path: `/${nameOf(state)} ${question.iteration ?? ""}.md`, query: keyOf(state, question) });
    this.shown.set(uri.toString(), question.output ?? "");
    const document = await vscode.workspace.openTextDocument(uri);
    await vscode.window.showTextDocument(document, { preview: true, viewColumn: vscode.ViewColumn.Beside, preserveFocus: true });
  }
}

const answersTo = (question: PendingApproval): Partial<Record<Decision, string>> =>
  question.blocked ? BLOCKED_ANSWERS : isProtected(question) ? PROTECTED_ANSWERS : ANSWERS;

const isProtected = (question: PendingApproval): boolean => (question.protected ?? []).length > 0;

/** What a person is asked: which loop, where in the run, and how the output begins. */
export function sentenceOf(state: RunState, question: PendingApproval): string {
  const name = nameOf(state);
  const place = (question.place ?? "").split(":", 1)[0] ?? "";
  const path = place.split("/").filter((part) => part && !/^\d+$/.test(part)).join(" › ");
  const where = path && path.toLowerCase() !== name.toLowerCase() ? `${name} (${path})` : name;
  if (isProtected(question)) return `${where}: ${(question.output ?? "").split("\n", 1)[0]} Checks do not count until you decide.`;
  if (question.blocked) return `${where} is blocked: ${(question.output ?? "").split("\n", 1)[0]?.replaceAll("`", "")}`;
  const of = question.iteration === undefined ? "" : ` on iteration ${question.iteration}`;
  return `${where} waits for your decision${of}: ${excerpt(question.output, 300) || "(no output)"}`;
}
