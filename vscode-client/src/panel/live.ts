// Text that is being written now, by the place that writes it. It is only a view: what counts comes as a fact,
// and with its end the text goes. Of a long text the end is kept, for that is what moves.
import type { RunEvent } from "../runs/state";
import { nameOf, withoutPart } from "./places";
import type { Live, Round, Row, Stage } from "./shape";

const KEPT = 12_000;

interface Writing extends Live {
  purpose: string;
}

const stageOf = (row: Row, place: string): Stage | undefined =>
  row.stages.find((stage) => stage.place === place || stage.place === withoutPart(place));

export class LiveTexts {
  private readonly known = new Map<string, Writing>();
  changed = false;

  all(): Live[] {
    return [...this.known.values()].map(({ purpose: _, ...live }) => live);
  }

  hear(event: RunEvent, row: string | undefined): void {
    if (typeof event.text !== "string" || row === undefined) return;
    const place = String(event.place ?? "");
    const purpose = typeof event.purpose === "string" ? event.purpose : "";
    const key = `${place}|${purpose}|${String(event.vote ?? "")}`;
    const before = this.known.get(key);
    const joined = (before?.text ?? "") + event.text;
    this.known.set(key, { place, row, label: before?.label ?? labelOf(event, place, purpose), text: joined.slice(-KEPT), purpose });
    this.changed = true;
  }

  /** A row that is new ends the texts of what has ended in it, and those that are tried again. */
  settle(row: Row, before: Row | undefined): void {
    if (this.known.size === 0) return;
    this.drop((live) => {
      if (live.row !== row.id || live.purpose === "planner") return false;
      if (live.purpose === "judge") return row.verdict !== undefined;
      if (row.status !== "running" && row.status !== "waiting") return true;
      const stage = stageOf(row, live.place);
      if (!stage) return false;
      return stage.status !== "running" || (stage.note !== undefined && stage.note !== (before && stageOf(before, live.place))?.note);
    });
  }

  /** A planner has said what it had to say, or is asked again. */
  planned(round: Round): void {
    this.drop((live) => live.purpose === "planner" && live.row === round.row);
  }

  private drop(wanted: (live: Writing) => boolean): void {
    for (const [key, live] of this.known) {
      if (!wanted(live)) continue;
      this.known.delete(key);
      this.changed = true;
    }
  }
}

function labelOf(event: RunEvent, place: string, purpose: string): string {
  if (purpose === "judge") return "the judge";
  if (purpose === "planner") return "the planner";
  const named = event.step ?? event.stage;
  if (typeof named === "string") return named;
  return nameOf(withoutPart(place).split("/")[0] ?? "");
}
