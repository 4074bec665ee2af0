// Text that is being written now, by the place that writes it. It is only a view: what counts comes as a fact,
// and with that fact the text goes. Of a long text the end is kept, for that is what moves.
import type { RunEvent } from "../runs/state";
import { nameOf, withoutPart } from "./places";
import type { Live } from "./shape";

const KEPT = 12_000;
const ENDS = new Set(["step_completed", "step_failed", "stage_completed", "stage_failed", "retrying", "iteration", "iteration_failed"]);

export class LiveTexts {
  private readonly known = new Map<string, Live>();
  changed = false;

  all(): Live[] {
    return [...this.known.values()];
  }

  hear(event: RunEvent, row: string | undefined): void {
    if (typeof event.text !== "string" || row === undefined) return;
    const place = String(event.place ?? "");
    const purpose = typeof event.purpose === "string" ? event.purpose : "";
    const key = `${place}|${purpose}|${String(event.vote ?? "")}`;
    const before = this.known.get(key);
    const joined = (before?.text ?? "") + event.text;
    this.known.set(key, { place, row, label: before?.label ?? labelOf(event, place, purpose), text: joined.slice(-KEPT) });
    this.changed = true;
  }

  /** A fact ends the text of its place, and an iteration the text of all that lies in it. */
  read(fact: RunEvent, place: string): void {
    if (this.known.size === 0) return;
    if (fact.kind === "judged" || fact.kind.startsWith("planner_")) this.drop((live, key) => live.place === place && !key.startsWith(`${place}||`));
    else if (ENDS.has(fact.kind)) this.drop((live) => live.place === place || live.place.startsWith(`${place}/`) || withoutPart(live.place) === place);
  }

  clear(): void {
    this.drop(() => true);
  }

  private drop(wanted: (live: Live, key: string) => boolean): void {
    for (const [key, live] of this.known) {
      if (!wanted(live, key)) continue;
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
