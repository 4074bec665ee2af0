// The iterations of a run as the record tells them, for views that pick or compare some. Asked for when
// somebody wants them; nothing is kept.
import type { Server } from "../part";

export interface Row {
  loop?: string;
  place: string;
  depth?: number;
  iteration_number: number;
  attempt?: number;
  status?: string;
  output?: string;
  verdict?: string;
  answer?: string;
  usd?: number;
  error?: { message?: string };
}

/** One row for each try of each iteration of each loop; undefined where nobody could be asked. */
export async function readRows(server: Server, runId: string): Promise<Row[] | undefined> {
  const answer = await server.ask("loopLs.history", { runId }).catch(() => undefined);
  return answer?.ok && Array.isArray(answer.history) ? (answer.history as Row[]) : undefined;
}

/** The one that stands in this row of a view, with all of its texts. */
export async function readRow(server: Server, runId: string, row: { id: string; first: number; last: number }): Promise<Row | undefined> {
  const part = { place: row.id, afterSeq: Math.max(0, row.first - 1), untilSeq: row.last };
  const answer = await server.ask("loopLs.history", { runId, ...part }).catch(() => undefined);
  return answer?.ok && Array.isArray(answer.history) ? (answer.history as Row[])[0] : undefined;
}

/** Of the loop that is meant (the outermost, unless it is named) the last try of each iteration, in order. */
export function rowsOfLoop(rows: readonly Row[], loop?: string): Row[] {
  const named = loop === undefined ? rows : rows.filter((row) => row.loop === loop);
  const least = Math.min(...named.map((row) => row.depth ?? 0));
  const outer = named.filter((row) => (row.depth ?? 0) === least);
  const home = outer.at(-1)?.place.replace(/\/[^/]*$/, "");
  const last = new Map<number, Row>();
  for (const row of outer) if (row.place.replace(/\/[^/]*$/, "") === home) last.set(row.iteration_number, row);
  return [...last.values()].sort((left, right) => left.iteration_number - right.iteration_number);
}
