// Numbers and states as people read them, and the sentences that a screen reader says. No page, no editor.
import { ENDINGS, FAILURE_WORDS, VERDICTS } from "../../contract/endings";
import { clock, count } from "../../runs/amounts";
import type { Head, Row, Verdict } from "../shape";

/** `840 ms`, `12.4 s`, `3:05`: how long one thing took. */
export function duration(milliseconds: number): string {
  if (milliseconds < 1000) return `${Math.max(0, Math.round(milliseconds))} ms`;
  if (milliseconds < 100_000) return `${(milliseconds / 1000).toFixed(1)} s`;
  return clock(milliseconds);
}

export function size(characters: number): string {
  if (characters < 1000) return count(characters, "character");
  if (characters < 1_000_000) return `${(characters / 1000).toFixed(characters < 10_000 ? 1 : 0)}k characters`;
  return `${(characters / 1_000_000).toFixed(1)}M characters`;
}

export const reasonWords = (reason: string): string => ENDINGS[reason]?.short ?? reason.replaceAll("_", " ");

export const failureWords = (kind: string): string => FAILURE_WORDS[kind] ?? kind.replaceAll("_", " ");

export const verdictWords = (verdict: Verdict): string => VERDICTS[verdict] ?? verdict;

/** What stands in the badge of a row. */
export function badgeOf(row: Row): string {
  if (row.verdict) return verdictWords(row.verdict);
  switch (row.status) {
    case "completed":
      return "done";
    case "waiting":
      return "waits for you";
    case "cancelled":
      return "stopped";
    default:
      return row.status;
  }
}

/** `loop progress, iteration 3 of 5` */
export function progressLabel(head: Head): string {
  const of = head.max ? ` of ${head.max}` : "";
  return `loop progress, ${head.unit} ${head.iteration}${of}`;
}

/** `3/5`, `3`, or a dash before the first. */
export function badge(head: Head): string {
  if (!head.iteration) return head.max ? `0/${head.max}` : "–";
  return head.max ? `${head.iteration}/${head.max}` : String(head.iteration);
}

/** Milliseconds that a row took, up to now where it goes on. */
export const took = (row: Pick<Row, "startedAt" | "endedAt">, now: number): number =>
  Math.max(0, (row.endedAt ? Date.parse(row.endedAt) : now) - (Date.parse(row.startedAt ?? "") || now));

/** A row as a screen reader says it. */
export function rowLabel(row: Row, unit: Head["unit"], now: number): string {
  const parts: string[] = [];
  if (row.kind === "loop") {
    parts.push(`loop ${row.name}`, row.max ? `${row.number} of ${row.max}` : String(row.number));
    if (row.condition) parts.push(`until ${row.condition}`);
  } else if (row.kind === "step") {
    parts.push(`step ${row.name}`, badgeOf(row));
  } else {
    parts.push(`${unit} ${row.number}${row.max ? ` of ${row.max}` : ""}${row.attempt > 1 ? `, attempt ${row.attempt}` : ""}`, badgeOf(row));
  }
  if (row.kind !== "loop") parts.push(duration(took(row, now)));
  if (row.cost) parts.push(row.cost);
  if (row.note) parts.push(row.note);
  if (row.excerpt) parts.push(row.excerpt);
  return parts.join(", ");
}

/** What is said aloud when a row became something else. */
export function announcement(row: Row, unit: Head["unit"]): string | undefined {
  if (row.kind !== "iteration") return undefined;
  const which = `${unit} ${row.number}${row.max ? ` of ${row.max}` : ""}`;
  if (row.status === "waiting") return `${which} waits for your approval`;
  if (row.verdict) return `${which}: ${verdictWords(row.verdict)}`;
  return row.status === "running" ? `${which} started` : `${which} ${badgeOf(row)}`;
}
