// What is made of a run that is recorded: fork, replay, delete, export, import, and the way to its file.
import * as vscode from "vscode";
import type { Part, Server } from "../part";
import { hasEnded, type RunState } from "../runs/state";
import type { RunStore } from "../runs/store";
import { excerpt, nameOf } from "../runs/words";
import { chooseRun, type Given, givenRuns } from "./choosing";
import { readRows, rowsOfLoop } from "./history";

const ANY = { none: "No runs yet.", fits: () => true };
/** What such a file says of itself. */
const EXPORTED = "loop-ls run";
const ENDED = { none: "No run has ended.", fits: hasEnded };

export const againPart: Part = ({ server, runs }) => {
  const with_ = (id: string, wanted: { title: string; none: string; fits: (state: RunState) => boolean }, act: (runId: string) => unknown) =>
    vscode.commands.registerCommand(`loopLs.client.${id}`, async (given?: Given) => {
      const runId = await chooseRun(runs, given, wanted);
      return runId === undefined ? undefined : act(runId);
    });
  return [
    with_("fork", { ...ANY, title: "Fork which run?" }, (runId) => fork(server, runs, runId)),
    with_("replay", { ...ENDED, title: "Replay which run?" }, (runId) => replay(server, runs, runId)),
    with_("export", { ...ANY, title: "Export which run?" }, (runId) => exportRun(server, runs, runId)),
    vscode.commands.registerCommand("loopLs.client.import", () => importRun(server, runs)),
    with_("openFile", { ...ANY, title: "Open the file of which run?" }, (runId) => openFile(runs.get(runId))),
    vscode.commands.registerCommand("loopLs.client.delete", async (given?: Given, selected?: Given[]) => {
      const several = givenRuns(given, selected);
      const one = several.length > 0 ? undefined : await chooseRun(runs, given, { ...ENDED, title: "Delete which run?" });
      const meant = several.length > 0 ? several : one === undefined ? [] : [one];
      if (meant.length > 0) await remove(server, runs, meant);
    }),
  ];
};

const called = (runs: RunStore, runId: string): string => {
  const state = runs.get(runId);
  return state ? nameOf(state) : `run ${runId}`;
};

/** Asks from which iteration; what lies before it is taken and not paid again. */
async function fork(server: Server, runs: RunStore, runId: string): Promise<void> {
  const rows = rowsOfLoop((await readRows(server, runId)) ?? []);
  const state = runs.get(runId);
  const goesOn = state && hasEnded(state) ? [{ label: "Continue after the finished iterations", detail: "All finished iterations are reused." }] : [];
  const choices: (vscode.QuickPickItem & { iteration?: number })[] = [
    ...rows.map(({ iteration_number: number, verdict, output }) => ({
      iteration: number,
      label: `From iteration ${number}`,
      description: [verdict?.toUpperCase(), excerpt(output, 80)].filter(Boolean).join(" · "),
      detail: number === 1 ? "Start over (all calls are billed again)." : `Iterations before ${number} are reused and not billed again.`,
    })),
    ...goesOn,
  ];
  if (choices.length === 0) {
    void vscode.window.showInformationMessage(`${called(runs, runId)} has no iteration to fork from.`);
    return;
  }
  const picked = await vscode.window.showQuickPick(choices, { title: `Fork ${called(runs, runId)}`, placeHolder: "Which iteration should be redone first?" });
  if (!picked) return;
  const answer = await server.run("loopLs.fork", { runId, ...(picked.iteration === undefined ? {} : { iteration: picked.iteration }) });
  if (answer?.ok) await open(answer.runId);
}

/** Against the file as it is in the editor now; without its file, against the recorded one. */
async function replay(server: Server, runs: RunStore, runId: string): Promise<void> {
  const uri = runs.get(runId)?.uri;
  const answer = await server.run("loopLs.replay", uri && (await isThere(uri)) ? { runId, uri } : { runId });
  if (answer?.ok) await open(answer.runId);
}

async function open(runId: unknown): Promise<void> {
  await vscode.commands.executeCommand("loopLs.client.openRun", { runId });
}

async function exportRun(server: Server, runs: RunStore, runId: string): Promise<void> {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
  const name = `${called(runs, runId).replace(/[^\w.-]+/g, "-")}-${runId.slice(0, 8)}.run.json`;
  const target = await vscode.window.showSaveDialog({
    title: `Export ${called(runs, runId)}`,
    saveLabel: "Export",
    filters: { "Exported run": ["json"] },
    ...(folder ? { defaultUri: vscode.Uri.joinPath(folder, name) } : {}),
  });
  if (!target) return;
  const answer = await server.run("loopLs.export", { runId });
  if (!answer?.ok) return;
  await vscode.workspace.fs.writeFile(target, Buffer.from(`${JSON.stringify(answer.run, undefined, 1)}\n`));
  const choice = await vscode.window.showInformationMessage(`${called(runs, runId)} was exported, without secrets.`, "Open File");
  if (choice) await vscode.window.showTextDocument(target);
}

/** Puts an exported run into the record of this folder and shows it. */
async function importRun(server: Server, runs: RunStore): Promise<void> {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
  const [file] =
    (await vscode.window.showOpenDialog({
      title: "Import an exported run",
      openLabel: "Import",
      filters: { "Exported run": ["json"] },
      ...(folder ? { defaultUri: folder } : {}),
    })) ?? [];
  if (!file) return;
  const run = await read(file);
  if (!run) return void vscode.window.showErrorMessage(`${vscode.workspace.asRelativePath(file)} is not an exported run: choose a file written by Export Run...`);
  const answer = await server.run("loopLs.import", { run });
  if (!answer?.ok || typeof answer.runId !== "string") return;
  const { runId } = answer;
  const told = await server.ask("loopLs.status", { runId });
  if (told?.ok) runs.take(told.state as RunState);
  if (answer.known) void vscode.window.showInformationMessage(`${called(runs, runId)} is already in the record.`);
  await open(runId);
}

async function read(file: vscode.Uri): Promise<Record<string, unknown> | undefined> {
  try {
    const run: unknown = JSON.parse(Buffer.from(await vscode.workspace.fs.readFile(file)).toString("utf8"));
    return typeof run === "object" && run !== null && "kind" in run && run.kind === EXPORTED ? { ...run } : undefined;
  } catch {
    return undefined;
  }
}

async function remove(server: Server, runs: RunStore, meant: readonly string[]): Promise<void> {
  const ended = meant.filter((runId) => hasEnded(runs.get(runId) ?? { runId, status: "completed" }));
  const [first] = ended;
  if (first === undefined) return void vscode.window.showInformationMessage("Only runs that have ended can be deleted: stop it first.");
  const what = ended.length === 1 ? called(runs, first) : `${ended.length} runs`;
  const choice = await vscode.window.showWarningMessage(
    `Delete ${what} from the record?`,
    { modal: true, detail: "Outputs, verdicts and costs of it are lost. Export it first to keep them." },
    "Delete",
  );
  if (choice !== "Delete") return;
  for (const runId of ended) {
    const answer = await server.run("loopLs.delete", { runId });
    if (answer?.ok || answer?.code === "not_found") runs.remove(runId);
  }
}

/** The file of a run, at the loop that ran. */
export async function openFile(state: RunState | undefined): Promise<void> {
  if (!state?.uri || !(await isThere(state.uri))) {
    return void vscode.window.showInformationMessage(`The file of ${state ? nameOf(state) : "this run"} was deleted; its record still exists.`);
  }
  const document = await vscode.workspace.openTextDocument(vscode.Uri.parse(state.uri));
  const line = lineOfLoop(document, state.target?.name);
  await vscode.window.showTextDocument(document, line === undefined ? {} : { selection: new vscode.Range(line, 0, line, 0) });
}

/** Where a name is defined: `name: develop`, in YAML or JSON. */
export function lineOfLoop(document: vscode.TextDocument, name: string | undefined): number | undefined {
  if (name === undefined) return undefined;
  const wanted = new RegExp(`["']?(?:name|id)["']?\\s*:\\s*["']?${name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}["']?\\s*(?:[,}#].*)?$`);
  for (let line = 0; line < document.lineCount; line++) if (wanted.test(document.lineAt(line).text)) return line;
  return undefined;
}

function isThere(uri: string): Promise<boolean> {
  return Promise.resolve(vscode.workspace.fs.stat(vscode.Uri.parse(uri))).then(
    () => true,
    () => false,
  );
}
