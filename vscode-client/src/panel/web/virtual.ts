// Arithmetic of long lists: which of many rows of known heights are to be drawn. No page.

export interface Window {
  /** Rows to draw: from this one up to, not including, that one. */
  from: number;
  to: number;
}

/** Where each row begins; one more than there are rows, the last is the height of all. */
export function offsetsOf(heights: readonly number[]): number[] {
  const offsets = [0];
  let sum = 0;
  for (const height of heights) offsets.push((sum += height));
  return offsets;
}

/** The last row that begins at or above `y`. */
export function rowAt(offsets: readonly number[], y: number): number {
  let low = 0;
  let high = Math.max(0, offsets.length - 2);
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((offsets[middle] ?? 0) <= y) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Rows in sight, and `spare` more on both sides. */
export function windowOf(offsets: readonly number[], top: number, height: number, spare = 6): Window {
  const count = offsets.length - 1;
  if (count <= 0) return { from: 0, to: 0 };
  const first = rowAt(offsets, Math.max(0, top));
  const last = rowAt(offsets, Math.max(0, top + Math.max(0, height - 1)));
  return { from: Math.max(0, first - spare), to: Math.min(count, last + 1 + spare) };
}

/** How far to scroll so that row `index` is in sight, moved as little as possible. */
export function scrolledTo(offsets: readonly number[], index: number, top: number, height: number): number {
  const start = offsets[index] ?? 0;
  const end = offsets[index + 1] ?? start;
  if (start < top) return start;
  if (end > top + height) return Math.max(0, end - height);
  return top;
}
