// The view of one run as the server tells it: patches of rows, rounds and nodes, taken by their numbers, so that none is
// missed and an older one changes nothing. Knows no editor and no facts.
import type { ViewPatch } from "../runs/state";
import { LiveTexts } from "./live";
import { around } from "./places";
import type { NodeState, Round, Row } from "./shape";

export class View {
  readonly rows = new Map<string, Row>();
  readonly live = new LiveTexts();
  nodes: Record<string, NodeState> = {};
  /** Rows that changed since somebody emptied this. */
  readonly changed = new Set<string>();
  roundsChanged = false;
  nodesChanged = false;
  /** The fact that it goes up to. */
  seq = 0;
  private readonly known = new Map<number, Round>();

  /** What is new since fact `after`; false where something before it is missing here. */
  take(patch: ViewPatch, after = this.seq): boolean {
    if (after > this.seq) return false;
    for (const row of patch.rows) {
      const before = this.rows.get(row.id);
      if (before && before.last > row.last) continue;
      this.live.settle(row, before);
      this.rows.set(row.id, row);
      this.changed.add(row.id);
    }
    if (patch.seq >= this.seq) {
      for (const round of patch.rounds ?? []) {
        this.live.planned(round);
        this.known.set(round.number, round);
        this.roundsChanged = true;
      }
      if (patch.nodes) {
        this.nodes = patch.nodes;
        this.nodesChanged = true;
      }
    }
    this.seq = Math.max(this.seq, patch.seq);
    return true;
  }

  /** The rows in the order in which they began. */
  ordered(ids: Iterable<string> = this.rows.keys()): Row[] {
    const found = [...ids].map((id) => this.rows.get(id)).filter((row) => row !== undefined);
    return found.sort((left, right) => left.first - right.first);
  }

  rounds(): Round[] {
    return [...this.known.values()].sort((left, right) => left.number - right.number);
  }

  rowOf(place: string): Row | undefined {
    const id = around(place, (at) => this.rows.has(at));
    return id === undefined ? undefined : this.rows.get(id);
  }
}
