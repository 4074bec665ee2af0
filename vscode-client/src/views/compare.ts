// Two iterations of a run, or two runs, side by side in the editor's own diff. The documents are virtual:
// they are read from the record when they are shown, so a restored window shows them again.
import * as vscode from "vscode";
import type { Part, Server } from "../part";
import type { RunStore } from "../runs/store";
import { excerpt, nameOf } from "../runs/words";
import { chooseRun, type Given, givenRuns } from "./choosing";
import { readRows, type Row, rowsOfLoop } from "./history";

export const SCHEME = "loop-ls-run";

/** `iterations`: which two, where whoever asks knows already. */
type Wanted = Given & { iterations?: [number, number]; loop?: string };

export const comparePart: Part = ({ server, runs }) => [
  vscode.workspace.registerTextDocumentContentProvider(SCHEME, {
    provideTextDocumentContent: (uri) => contentOf(server, uri),
  }),
  vscode.commands.registerCommand("loopLs.client.compare", (given?: Wanted, selected?: Given[]) => compare(server, runs, given, selected)),
];

/** One iteration of a run as a document; without a number, all of the run. */
export function documentOf(runId: string, iteration?: number, loop?: string): vscode.Uri {
  const name = iteration === undefined ? "iterations" : `iteration-${iteration}`;
  return vscode.Uri.from({ scheme: SCHEME, path: `/${runId}/${name}.md`, query: loop ?? "" });
}

async function contentOf(server: Server, uri: vscode.Uri): Promise<string> {
  const [, runId = "", file = ""] = uri.path.split("/");
  const rows = rowsOfLoop((await readRows(server, runId)) ?? [], uri.query || undefined);
  const number = /^iteration-(\d+)\.md$/.exec(file)?.[1];
  if (number === undefined) return rows.map(section).join("\n");
  const row = rows.find((one) => one.iteration_number === Number(number));
  return row?.output ?? `(iteration ${number} of run ${runId} has no output in the record)`;
}

const section = (row: Row): string =>
  `## Iteration ${row.iteration_number}${row.verdict ? ` · ${row.verdict.toUpperCase()}` : ""}\n\n${row.output ?? row.error?.message ?? ""}\n`;

async function compare(server: Server, runs: RunStore, given?: Wanted, selected?: Given[]): Promise<void> {
  const [left, right] = givenRuns(given, selected);
  if (left !== undefined && right !== undefined) return compareRuns(runs, left, right);
  const runId = await chooseRun(runs, given, { title: "Compare iterations of which run?", none: "No runs yet.", fits: () => true });
  if (runId === undefined) return;
  const pair = given?.iterations ?? (await askForPair(server, runs, runId, given?.loop));
  if (!pair) return;
  const title = `${called(runs, runId)}: iteration ${pair[0]} ↔ ${pair[1]}`;
  await show(documentOf(runId, pair[0], given?.loop), documentOf(runId, pair[1], given?.loop), title);
}

function compareRuns(runs: RunStore, left: string, right: string): Promise<void> {
  const [older, newer] = (runs.get(left)?.startedAt ?? "") <= (runs.get(right)?.startedAt ?? "") ? [left, right] : [right, left];
  const title = `${called(runs, older)} ${older.slice(0, 6)} ↔ ${called(runs, newer)} ${newer.slice(0, 6)}`;
  return show(documentOf(older), documentOf(newer), title);
}

async function show(left: vscode.Uri, right: vscode.Uri, title: string): Promise<void> {
  await vscode.commands.executeCommand("vscode.diff", left, right, title);
}

const called = (runs: RunStore, runId: string): string => {
  const state = runs.get(runId);
  return state ? nameOf(state) : runId;
};

/** The two that a person picks; the only two where there are no more. */
async function askForPair(server: Server, runs: RunStore, runId: string, loop?: string): Promise<[number, number] | undefined> {
  const rows = rowsOfLoop((await readRows(server, runId)) ?? [], loop).filter((row) => row.output !== undefined);
  const numbers = rows.map((row) => row.iteration_number);
  if (numbers.length < 2) {
    const has = numbers.length === 1 ? "only one output" : "no output";
    return void vscode.window.showInformationMessage(`${called(runs, runId)} has ${has} so far; two are needed to compare.`);
  }
  const [first, second] = numbers;
  if (numbers.length === 2 && first !== undefined && second !== undefined) return [first, second];
  const pick = async (of: readonly Row[], placeHolder: string) => {
    const items = of.map((row) => ({
      number: row.iteration_number,
      label: `Iteration ${row.iteration_number}`,
      description: [row.verdict?.toUpperCase(), excerpt(row.output, 80)].filter(Boolean).join(" · "),
    }));
    return (await vscode.window.showQuickPick(items, { title: `Compare iterations of ${called(runs, runId)}`, placeHolder }))?.number;
  };
  const left = await pick(rows, "The first of two iterations");
  if (left === undefined) return undefined;
  const right = await pick(rows.filter((row) => row.iteration_number !== left), `Iteration ${left} compared with`);
  return right === undefined ? undefined : [left, right];
}
