// Which lines two texts share, by their longest common subsequence. No page.

export interface Line {
  side: "both" | "left" | "right";
  text: string;
}

/** Products of lines above this take too long in a browser. */
const MOST = 4_000_000;

/** Undefined where the texts are too long to compare. */
export function lineDiff(left: string, right: string): Line[] | undefined {
  const [one, other] = [left.split("\n"), right.split("\n")];
  if (one.length * other.length > MOST) return undefined;
  const width = other.length + 1;
  const longest = new Uint32Array((one.length + 1) * width);
  const at = (row: number, column: number): number => longest[row * width + column] ?? 0;
  for (let row = one.length - 1; row >= 0; row--) {
    for (let column = other.length - 1; column >= 0; column--) {
      const same = one[row] === other[column];
      longest[row * width + column] = same ? at(row + 1, column + 1) + 1 : Math.max(at(row + 1, column), at(row, column + 1));
    }
  }
  const lines: Line[] = [];
  let [row, column] = [0, 0];
  while (row < one.length || column < other.length) {
    if (row < one.length && column < other.length && one[row] === other[column]) {
      lines.push({ side: "both", text: one[row++] ?? "" });
      column++;
    } else if (row < one.length && (column === other.length || at(row + 1, column) >= at(row, column + 1))) {
      lines.push({ side: "left", text: one[row++] ?? "" });
    } else {
      lines.push({ side: "right", text: other[column++] ?? "" });
    }
  }
  return lines;
}
