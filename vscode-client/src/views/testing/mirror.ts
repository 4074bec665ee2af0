// One run as a run of the Testing view: iterations come as children, the verdict stands on the line that is
// judged, the output is attached to it. The end is filled in from the record, so that nothing is missing of a
// run whose facts did not all come here.
import * as vscode from "vscode";
import type { Server } from "../../part";
import type { RowView } from "../../contract/answers";
import { VERDICTS } from "../../contract/endings";
import { endedAtLimit, type RunState } from "../../runs/state";
import { excerpt, lineOfRun } from "../../runs/words";
import { readRow, readRows, type Row } from "../history";
import type { Items } from "./items";

/** The view is no place for a whole book. */
const MOST = 20_000;

export class Mirror {
  private readonly seen = new Map<string, Seen>();
  /** Rows by their state that were read already. */
  private readonly read = new Set<string>();
  private ended = false;

  constructor(
    private readonly server: Server,
    private readonly items: Items,
    private readonly run: vscode.TestRun,
    private readonly item: vscode.TestItem,
    readonly runId: string,
    /** Messages stand in the text; a run that was started elsewhere is told there by its own hints. */
    private readonly inText: boolean,
  ) {
    items.clearIterations(item);
    run.started(item);
  }

  /** Rows as they change: an iteration begins, has its output, is judged. */
  take(rows: readonly RowView[]): void {
    if (this.ended) return;
    for (const row of rows) {
      if (row.kind !== "iteration" || row.depth > 0) continue;
      this.begun(row.name, row.number);
      const how = `${row.id}:${row.verdict ?? row.status}`;
      if (row.status === "running" || this.read.has(how)) continue;
      this.read.add(how);
      void this.look(row);
    }
  }

  private async look(row: RowView): Promise<void> {
    const found = await readRow(this.server, this.runId, row);
    if (found && !this.ended) this.fill(found);
  }

  /** The run has ended: say how, once what is missing was read. */
  async end(state: RunState): Promise<void> {
    if (this.ended) return;
    const rows = (await readRows(this.server, this.runId)) ?? [];
    if (this.ended) return;
    this.ended = true;
    const least = Math.min(...rows.map((row) => row.depth ?? 0));
    for (const row of rows) if ((row.depth ?? 0) === least) this.fill(row);
    this.settle(state);
    this.run.end();
  }

  /** Nothing more is heard of it. */
  leave(): void {
    if (this.ended) return;
    this.ended = true;
    this.run.skipped(this.item);
    this.run.end();
  }

  private begun(loop: string | undefined, number: number): Seen | undefined {
    const home = this.items.loopIn(this.item, loop);
    const key = `${home.id}/${number}`;
    const known = this.seen.get(key);
    if (known) return known;
    const item = this.items.iteration(home, number, this.runId);
    if (!item) return undefined;
    if (home !== this.item) this.run.started(home);
    this.run.started(item);
    const made: Seen = { item, home, number, began: Date.now() };
    this.seen.set(key, made);
    return made;
  }

  private said(loop: string | undefined, number: number, output: string): void {
    const seen = this.begun(loop, number);
    if (!seen || seen.output !== undefined) return;
    seen.output = output;
    const cut = output.length > MOST ? `${output.slice(0, MOST)}\n… (${output.length - MOST} characters more: open the run)` : output;
    this.run.appendOutput(lines(`iteration ${number}:\n${cut}\n`), undefined, seen.item);
  }

  private judged(loop: string | undefined, number: number, verdict: string, answer: string | undefined): void {
    const seen = this.begun(loop, number);
    if (!seen || seen.verdict !== undefined) return;
    seen.verdict = verdict;
    seen.sentence = sentenceOf(number, verdict, verdict === "no" || verdict === "yes" ? seen.output : answer);
    this.run.appendOutput(lines(`${seen.sentence}\n`), this.inText ? this.placeOf(seen.item) : undefined, seen.item);
    // NO is no failure as long as the loop may try again: that is what it is for.
    if (verdict === "yes") this.run.passed(seen.item, Date.now() - seen.began);
    else this.run.skipped(seen.item);
  }

  private fill(row: Row): void {
    if (row.output !== undefined) this.said(row.loop, row.iteration_number, row.output);
    if (row.verdict) this.judged(row.loop, row.iteration_number, row.verdict, row.answer);
    else if (row.status === "failed") this.judged(row.loop, row.iteration_number, "failed", row.error?.message);
  }

  private settle(state: RunState): void {
    const homes = new Set([...this.seen.values()].map((seen) => seen.home));
    const well = state.status === "completed" && !endedAtLimit(state);
    for (const item of new Set([this.item, ...homes])) {
      if (well) this.run.passed(item, state.elapsedMs);
      else if (state.status === "cancelled") this.run.skipped(item);
      else this.run.failed(item, this.messages(item, state.said?.line ?? lineOfRun(state)), state.elapsedMs);
    }
    for (const seen of this.seen.values()) {
      if (seen.verdict === undefined) this.run.skipped(seen.item);
      // Where it never became YES, each NO is what went wrong.
      else if (!well && state.status !== "cancelled" && seen.verdict !== "yes") this.run.failed(seen.item, this.messages(seen.item, seen.sentence ?? ""));
    }
  }

  private messages(item: vscode.TestItem, words: string): vscode.TestMessage[] {
    if (!this.inText) return [];
    const message = new vscode.TestMessage(words);
    const place = this.placeOf(item);
    if (place) message.location = place;
    return [message];
  }

  private placeOf(item: vscode.TestItem): vscode.Location | undefined {
    const target = this.items.targetOf(item);
    return target && new vscode.Location(target.uri, target.judged);
  }
}

interface Seen {
  item: vscode.TestItem;
  home: vscode.TestItem;
  number: number;
  began: number;
  output?: string;
  verdict?: string;
  sentence?: string;
}

/** `iteration 1: NO - "FAIL: missing test"`, as the Problems view says it. */
export function sentenceOf(number: number, verdict: string, shown: string | undefined): string {
  const quoted = shown?.trim() ? ` - "${excerpt(shown, 80)}"` : "";
  return `iteration ${number}: ${VERDICTS[verdict] ?? verdict}${quoted}`;
}

/** The view is a terminal: lines end with both characters. */
const lines = (text: string): string => text.replace(/\r?\n/g, "\r\n");
