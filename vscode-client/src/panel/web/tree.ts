// Which rows of the timeline are open to sight, how deep they lie, and where arrow keys lead. No page.
import type { Row } from "../shape";

export interface Seen {
  row: Row;
  level: number;
  /** Whether something lies in it, and whether that is shown. */
  open: boolean | undefined;
}

export type Opened = Readonly<Record<string, boolean>>;

/** What a person has not opened or closed is open where it runs; a heading always is. */
export const isOpen = (row: Row, opened: Opened): boolean =>
  opened[row.id] ?? (row.kind !== "iteration" || row.status === "running" || row.status === "waiting");

export function seenRows(rows: readonly Row[], opened: Opened): Seen[] {
  const below = new Map<string | undefined, Row[]>();
  for (const row of rows) {
    const beside = below.get(row.parent);
    if (beside) beside.push(row);
    else below.set(row.parent, [row]);
  }
  const found: Seen[] = [];
  const walk = (parent: string | undefined, level: number): void => {
    for (const row of below.get(parent) ?? []) {
      const open = below.has(row.id) ? isOpen(row, opened) : undefined;
      found.push({ row, level, open });
      if (open) walk(row.id, level + 1);
    }
  };
  walk(undefined, 1);
  return found;
}

export type Key = "ArrowUp" | "ArrowDown" | "ArrowLeft" | "ArrowRight" | "Home" | "End" | "PageUp" | "PageDown";

export interface Step {
  select?: string;
  open?: { id: string; open: boolean };
}

/** Where a key leads from the row `current`; `page` rows fit into sight. */
export function stepOf(seen: readonly Seen[], current: string | undefined, key: Key, page = 10): Step {
  const at = seen.findIndex((one) => one.row.id === current);
  const here = seen[at];
  const to = (index: number): Step => ({ select: seen[Math.min(seen.length - 1, Math.max(0, index))]?.row.id });
  if (!here) return to(key === "End" ? seen.length - 1 : 0);
  switch (key) {
    case "ArrowUp":
      return to(at - 1);
    case "ArrowDown":
      return to(at + 1);
    case "PageUp":
      return to(at - page);
    case "PageDown":
      return to(at + page);
    case "Home":
      return to(0);
    case "End":
      return to(seen.length - 1);
    case "ArrowRight":
      if (here.open === false) return { open: { id: here.row.id, open: true } };
      return here.open ? to(at + 1) : {};
    case "ArrowLeft":
      if (here.open) return { open: { id: here.row.id, open: false } };
      return here.row.parent ? { select: here.row.parent } : {};
  }
}
