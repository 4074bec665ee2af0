// The facts of one run, taken one by one in order, as the rows of its timeline. Knows no editor and asks nobody.
// It keeps beginnings of texts and the numbers of facts, so that a run of any size stays small here.
import type { RunEvent } from "../runs/state";
import { excerpt } from "../runs/words";
import { LiveTexts } from "./live";
import { around, nameOf, parentOf, pathOf, withoutPart } from "./places";
import { Rounds } from "./rounds";
import type { NodeState, Row, RowStatus, Stage, Verdict } from "./shape";

const SHOWN = 200;

export class Book {
  readonly rows = new Map<string, Row>();
  readonly rounds = new Rounds();
  readonly live = new LiveTexts();
  readonly nodes = new Map<string, NodeState>();
  /** Rows that changed since somebody emptied this. */
  readonly changed = new Set<string>();
  roundsChanged = false;
  nodesChanged = false;
  seq = 0;
  private format = "";
  private readonly stages = new Map<string, { row: Row; stage: Stage }>();

  /** The next fact; false where it is known or too early. Streamed text has no number and is always taken. */
  take(fact: RunEvent): boolean {
    if (fact.seq === undefined) {
      this.live.hear(fact, this.rowOf(text(fact.place))?.id);
      return true;
    }
    if (fact.seq !== this.seq + 1) return false;
    this.seq = fact.seq;
    this.read(fact, text(fact.place), Date.parse(fact.at ?? "") || 0);
    if (this.rounds.take(fact)) this.roundsChanged = true;
    return true;
  }

  rowOf(place: string): Row | undefined {
    const id = around(place, (at) => this.rows.has(at));
    return id === undefined ? undefined : this.rows.get(id);
  }

  private read(fact: RunEvent, place: string, at: number): void {
    this.live.read(fact, place);
    switch (fact.kind) {
      case "run_started":
        this.format = text(fact.format);
        break;
      case "iteration_started":
        this.iterationBegins(fact, place, at);
        break;
      case "iteration":
      case "iteration_failed":
      case "judged":
        this.note(fact, place, at);
        break;
      case "step_started":
      case "step_skipped":
      case "stage_started":
        this.stageBegins(fact, place, at);
        break;
      case "step_completed":
      case "step_failed":
      case "stage_completed":
      case "stage_failed":
        this.stageEnds(fact, place, at);
        break;
      case "call":
        this.paid(fact, place);
        break;
      case "tool_called":
        this.onStage(place, (stage) => (stage.tools = (stage.tools ?? 0) + 1));
        break;
      case "retrying":
        this.waits(fact, place);
        break;
      case "manual_approval_required":
        this.touch(this.rowOf(place), (row) => (row.status = "waiting"));
        break;
      case "approval_resolved":
        this.touch(this.rowOf(place), (row) => {
          if (row.status === "waiting") row.status = "completed";
        });
        break;
      case "warning":
      case "unchanged_output_warning":
      case "loop_fixation_warning":
        this.touch(this.rowOf(place), (row) => row.warnings.push(warningOf(fact)));
        break;
      case "completed":
      case "failed":
      case "cancelled":
        this.close(fact.kind === "completed" ? "completed" : fact.kind, at);
        break;
    }
    const row = this.rowOf(place);
    if (row) {
      row.last = this.seq;
      this.changed.add(row.id);
    }
  }

  private iterationBegins(fact: RunEvent, place: string, at: number): void {
    const loop = parentOf(place);
    const heading = this.rows.get(`${loop}#loop`);
    const row: Row = {
      ...blank(place, "iteration", nameOf(text(fact.loop) || loop), at, this.seq),
      number: fact.iteration ?? 0,
      attempt: count(fact.attempt) ?? 1,
    };
    row.parent = heading?.id ?? this.rowOf(loop)?.id;
    if (typeof fact.maxIterations === "number") row.max = fact.maxIterations;
    if (typeof fact.item === "string") row.item = fact.item;
    this.rows.set(place, row);
    this.changed.add(place);
    if (heading) this.touch(heading, () => (heading.number = Math.max(heading.number, row.number)));
    this.lights(loop, row);
  }

  /** The loop of a new iteration is lit, what it calls is dark again. */
  private lights(loop: string, row: Row): void {
    const path = this.path(loop);
    const below = path ? `${path}/` : "";
    for (const known of this.nodes.keys()) if (known.startsWith(below)) this.nodes.delete(known);
    this.nodesChanged = true;
    this.node(path, "running", row.max ? `${row.number}/${row.max}` : String(row.number));
  }

  private note(fact: RunEvent, place: string, at: number): void {
    this.touch(this.rowOf(place), (row) => {
      row.endedAt = at;
      row.note = undefined;
      if (fact.kind === "iteration") {
        row.status = "completed";
        row.excerpt = excerpt(fact.output, SHOWN);
        row.length = lengthOf(fact, "output");
      } else if (fact.kind === "iteration_failed") {
        row.status = "failed";
        row.note = messageOf(fact.error);
      } else {
        row.status = row.status === "running" || row.status === "waiting" ? "completed" : row.status;
        row.verdict = (fact.verdict as Verdict | undefined) ?? "unclear";
        row.local = fact.local === true;
        const heading = row.parent ? this.rows.get(row.parent) : undefined;
        if (heading?.kind === "loop") this.touch(heading, () => (heading.verdict = row.verdict));
      }
    });
  }

  private stageBegins(fact: RunEvent, place: string, at: number): void {
    const skipped = fact.kind === "step_skipped";
    const name = text(fact.step) || text(fact.stage);
    const status: RowStatus = skipped ? "skipped" : "running";
    const known = this.stages.get(place);
    const stage: Stage = known?.stage ?? { place, name, mode: text(fact.mode) || "role", status, startedAt: at };
    Object.assign(stage, { status, note: undefined });
    this.node(this.path(place), status);
    if (known) return void this.changed.add(known.row.id);
    const row = this.rowOf(parentOf(place));
    if (text(fact.mode) === "loop" && !skipped) this.heading(fact, place, at, row);
    if (row) {
      row.stages.push(stage);
      this.stages.set(place, { row, stage });
    } else if (text(fact.mode) !== "loop" || skipped) {
      const own: Row = { ...blank(place, "step", name, at, this.seq), status, stages: [stage] };
      this.rows.set(place, own);
      this.stages.set(place, { row: own, stage });
    }
  }

  private heading(fact: RunEvent, place: string, at: number, around: Row | undefined): void {
    const id = `${place}#loop`;
    const row: Row = { ...blank(id, "loop", text(fact.step), at, this.seq), parent: around?.id };
    if (typeof fact.condition === "string") row.condition = fact.condition;
    if (typeof fact.maxIterations === "number") row.max = fact.maxIterations;
    this.rows.set(id, row);
    this.changed.add(id);
  }

  private stageEnds(fact: RunEvent, place: string, at: number): void {
    const failed = fact.kind.endsWith("failed");
    const status: RowStatus = failed ? "failed" : "completed";
    const reason = text(fact.reason);
    this.touch(this.rows.get(`${place}#loop`), (row) => Object.assign(row, { status, endedAt: at, reason }));
    if (!this.stages.has(place) && !this.rows.has(`${place}#loop`)) this.stageBegins(fact, place, at);
    this.onStage(place, (stage) => {
      Object.assign(stage, { status, endedAt: at, note: failed ? messageOf(fact.error) : undefined });
    });
    const own = this.rows.get(place);
    if (own?.kind === "step") {
      Object.assign(own, { status, endedAt: at, note: failed ? messageOf(fact.error) : undefined });
      own.excerpt = excerpt(fact.output, SHOWN);
      own.length = lengthOf(fact, "output");
    }
    this.node(this.path(place), status, this.nodes.get(this.path(place))?.note);
  }

  private paid(fact: RunEvent, place: string): void {
    if (fact.copied === true) return; // another run has paid for it
    const usd = typeof fact.usd === "number" ? fact.usd : undefined;
    const tokens = Object.values((fact.tokens ?? {}) as Record<string, number>).reduce((sum, each) => sum + each, 0);
    for (let row = this.rowOf(place); row; row = row.parent ? this.rows.get(row.parent) : undefined) {
      row.tokens += tokens;
      if (usd !== undefined) row.usd = (row.usd ?? 0) + usd;
      this.changed.add(row.id);
    }
    if (usd !== undefined) this.onStage(place, (stage) => (stage.usd = (stage.usd ?? 0) + usd));
  }

  private waits(fact: RunEvent, place: string): void {
    const seconds = typeof fact.delay === "number" && fact.delay > 0 ? `, in ${Math.round(fact.delay * 10) / 10} s` : "";
    const note = `try ${String(fact.attempt ?? "again")}${seconds}: ${messageOf(fact.because)}`;
    const stage = this.stages.get(withoutPart(place));
    if (stage) stage.stage.note = note;
    this.touch(this.rowOf(place), (row) => (row.note = note));
  }

  private close(status: "completed" | "failed" | "cancelled", at: number): void {
    const open = status === "cancelled" ? "cancelled" : "failed";
    for (const row of this.rows.values()) {
      for (const stage of row.stages) if (stage.status === "running") Object.assign(stage, { status: open, endedAt: at });
      if (row.status !== "running" && row.status !== "waiting") continue;
      Object.assign(row, { status: row.kind === "iteration" && status === "completed" ? "cancelled" : open, endedAt: at });
      this.changed.add(row.id);
    }
    for (const [path, node] of this.nodes) if (node.status === "running") this.node(path, open, node.note);
    this.live.clear();
  }

  private onStage(place: string, act: (stage: Stage) => unknown): void {
    const known = this.stages.get(place) ?? this.stages.get(withoutPart(place));
    if (!known) return;
    act(known.stage);
    known.row.last = this.seq;
    this.changed.add(known.row.id);
  }

  private touch(row: Row | undefined, act: (row: Row) => unknown): void {
    if (!row) return;
    act(row);
    row.last = this.seq;
    this.changed.add(row.id);
  }

  /** In an enhance loop the round itself is no part of the graph of the file. */
  private path(place: string): string {
    return pathOf(place, (at) => this.rows.get(at)?.kind === "iteration", this.format === "enhance" ? 1 : 0);
  }

  private node(path: string, status: RowStatus, note?: string): void {
    if (!path) return;
    this.nodes.set(path, note === undefined ? { status } : { status, note });
    this.nodesChanged = true;
  }
}

function blank(id: string, kind: Row["kind"], name: string, at: number, seq: number): Row {
  return {
    id,
    kind,
    name,
    number: 0,
    attempt: 1,
    status: "running",
    excerpt: "",
    length: 0,
    tokens: 0,
    startedAt: at,
    stages: [],
    warnings: [],
    first: seq,
    last: seq,
  };
}

/** How long a text of a fact is, where the server gave only its beginning. */
function lengthOf(fact: RunEvent, name: string): number {
  const cut = (fact.cut as Record<string, number> | undefined)?.[name];
  return cut ?? text(fact[name]).length;
}

function warningOf(fact: RunEvent): string {
  switch (fact.kind) {
    case "unchanged_output_warning":
      return fact.empty === true ? "The output is empty." : `The last ${String(fact.repeated ?? 2)} outputs are the same.`;
    case "loop_fixation_warning":
      return "The same thing failed again.";
    default:
      return text(fact.message);
  }
}

const text = (value: unknown): string => (typeof value === "string" ? value : "");
const count = (value: unknown): number | undefined => (typeof value === "number" ? value : undefined);
const messageOf = (error: unknown): string =>
  typeof error === "string" ? error : text((error as { message?: unknown } | undefined)?.message);
