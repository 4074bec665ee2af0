// What the buttons of a panel do: commands of the server, and documents of the editor. A refusal is told by the
// server's own sentence; nothing here changes what is shown, for that comes back as views.
import * as vscode from "vscode";
import type { Argument } from "../answers/settle";
import type { Server } from "../part";
import type { RunState } from "../runs/state";
import { askedBy, forkOf } from "./commands";
import { addressOf, type What } from "./documents";
import type { Act } from "./shape";
import type { View } from "./view";

export interface Stage {
  readonly runId: string;
  readonly state: RunState | undefined;
  readonly view: View;
  readonly server: Server;
  /** Asks for everything anew. */
  again(): void;
}

export async function act(stage: Stage, wanted: Act): Promise<void> {
  const { runId, server } = stage;
  const asked = askedBy(wanted, stage);
  if (asked?.begins) return openNew(server, asked.command, asked.argument);
  if (asked) return void (await server.run(asked.command, asked.argument));
  switch (wanted.verb) {
    case "restore": {
      const row = stage.view.rows.get(wanted.row);
      if (row?.kind === "iteration") await vscode.commands.executeCommand("loopLs.client.restore", forkOf(runId, row));
      return;
    }
    case "decideChanges":
      await vscode.commands.executeCommand("loopLs.client.decideChanges", { runId, decision: wanted.decision });
      return;
    case "showChanges":
      await vscode.commands.executeCommand("loopLs.client.changes", { runId });
      return;
    case "openFile":
      return openFile(stage.state?.uri);
    case "diff":
      return compare(stage, wanted.left, wanted.right);
    case "show":
      return show(stage, wanted.row, wanted.what);
    case "again":
      stage.again();
      return;
    case "restartServer":
      await vscode.commands.executeCommand("loopLs.client.restart");
      return;
    case "showLog":
      await vscode.commands.executeCommand("loopLs.client.showLog");
      return;
  }
}

async function openNew(server: Server, command: string, argument: Argument): Promise<void> {
  const answer = await server.run(command, argument);
  if (answer?.ok) await vscode.commands.executeCommand("loopLs.client.openRun", { runId: answer.runId });
}

async function openFile(uri: string | undefined): Promise<void> {
  if (!uri) return;
  const file = vscode.Uri.parse(uri);
  const there = await Promise.resolve(vscode.workspace.fs.stat(file)).catch(() => undefined);
  // A deleted file that is still open in a tab could be shown, and would say nothing of it.
  if (!there) return void vscode.window.showWarningMessage("The file of this run no longer exists.");
  await vscode.window.showTextDocument(file, { viewColumn: vscode.ViewColumn.One });
}

async function compare({ runId, state, view }: Stage, left: string, right: string): Promise<void> {
  const [before, after] = [view.rows.get(left), view.rows.get(right)];
  if (!before || !after) return;
  const name = state?.name ?? runId;
  const unit = state?.format === "enhance" ? "round" : "iteration";
  const title = `${name}: ${unit} ${before.number} ↔ ${unit} ${after.number}`;
  const [one, other] = [addressOf(runId, name, before, "output"), addressOf(runId, name, after, "output")];
  await vscode.commands.executeCommand("vscode.diff", one, other, title, { viewColumn: vscode.ViewColumn.One, preview: true });
}

async function show({ runId, state, view }: Stage, id: string, what: What): Promise<void> {
  const row = view.rows.get(id);
  if (!row) return;
  const document = await vscode.workspace.openTextDocument(addressOf(runId, state?.name ?? runId, row, what));
  await vscode.window.showTextDocument(document, { viewColumn: vscode.ViewColumn.One, preview: true });
}
