// What the page knows, and how messages of the host change it. Rows keep their identity where they did not change,
// so that only what is new is drawn. No page.
import type { All, Round, Row, ToPage } from "../shape";

export interface Model extends All {
  /** Rows by their id, in the order in which they began. */
  byId: ReadonlyMap<string, Row>;
}

export const EMPTY: Model = { rows: [], rounds: [], live: [], graph: [], nodes: {}, reading: true, byId: new Map() };

export function taken(model: Model, message: ToPage): Model {
  switch (message.type) {
    case "all":
      return { ...EMPTY, ...message, byId: new Map(message.rows.map((row) => [row.id, row])) };
    case "change": {
      const { rows, banner, type, select, tab, ...rest } = message;
      const byId = rows ? merged(model.byId, rows) : model.byId;
      const shown = rows ? [...byId.values()] : model.rows;
      return { ...model, ...rest, rows: shown, byId, banner: banner === undefined ? model.banner : (banner ?? undefined) };
    }
    case "detail":
      return model;
  }
}

function merged(known: ReadonlyMap<string, Row>, rows: readonly Row[]): Map<string, Row> {
  const found = new Map(known);
  for (const row of rows) found.set(row.id, row);
  if (found.size === known.size) return found;
  return new Map([...found].sort(([, left], [, right]) => left.first - right.first));
}

/** The newest iteration, which a person sees who has chosen none; else the newest step. */
export function newest(rows: readonly Row[]): Row | undefined {
  const iterations = rows.filter((row) => row.kind === "iteration");
  const going = iterations.findLast((row) => row.parent === undefined || row.status === "running");
  return iterations.findLast((row) => row.status === "waiting") ?? going ?? iterations.at(-1) ?? rows.findLast((row) => row.kind === "step");
}

/** The round of an enhance loop in which this row stands, or that it is. */
export function roundOf({ rounds, byId }: Model, row: Row | undefined): Round | undefined {
  for (let at = row; at; at = at.parent === undefined ? undefined : byId.get(at.parent)) {
    const found = rounds.find((round) => round.row === at.id);
    if (found) return found;
  }
  return undefined;
}

/** The iteration of the same loop before this one. */
export function before(rows: readonly Row[], row: Row): Row | undefined {
  return rows.findLast((one) => one.kind === "iteration" && one.name === row.name && one.parent === row.parent && one.number < row.number);
}

export function numbered(rows: readonly Row[], like: Row, number: number): Row | undefined {
  return rows.findLast((one) => one.kind === "iteration" && one.name === like.name && one.parent === like.parent && one.number === number);
}
