// Where the boxes of a graph stand: layers by who waits for whom, loops as frames around what they call. No page.
// Small graphs of people, not of machines: a few dozen boxes, so plain sweeps are enough.
import type { GraphNode } from "../../shape";

export interface Box {
  /** Names along the way to it, as `NodeState` knows it. */
  path: string;
  node: GraphNode;
  x: number;
  y: number;
  width: number;
  height: number;
  frame: boolean;
}

export interface Line {
  from: string;
  to: string;
  /** From the bottom of one box to the top of the other. */
  points: [number, number, number, number];
}

export interface Drawing {
  boxes: Box[];
  lines: Line[];
  width: number;
  height: number;
}

const LETTER = 7;
const BOX = { height: 32, least: 84, most: 200, padding: 48 };
const GAP = { x: 22, y: 34 };
const FRAME = { side: 16, top: 40, bottom: 16 };

export function drawingOf(nodes: readonly GraphNode[], above = ""): Drawing {
  const layers = layersOf(nodes);
  const inside = new Map(nodes.map((node) => [node.name, insideOf(node, above)]));
  const sizes = new Map(nodes.map((node) => [node.name, sizeOf(node, inside.get(node.name))]));
  const boxes: Box[] = [];
  const lines: Line[] = [];
  const placed = new Map<string, Box>();
  const widths = layers.map((layer) => sum(layer.map((node) => sizes.get(node.name)?.width ?? 0)) + GAP.x * (layer.length - 1));
  const width = Math.max(0, ...widths);
  let y = 0;
  layers.forEach((layer, index) => {
    let x = (width - (widths[index] ?? 0)) / 2;
    for (const node of layer) {
      const size = sizes.get(node.name) ?? { width: 0, height: 0 };
      const inner = inside.get(node.name);
      const box: Box = { path: join(above, node.name), node, x, y, ...size, frame: inner !== undefined };
      boxes.push(box);
      placed.set(node.name, box);
      if (inner) {
        const left = x + (size.width - inner.width) / 2;
        boxes.push(...inner.boxes.map((each) => ({ ...each, x: each.x + left, y: each.y + y + FRAME.top })));
        lines.push(...inner.lines.map((line) => moved(line, left, y + FRAME.top)));
      }
      x += size.width + GAP.x;
    }
    y += Math.max(...layer.map((node) => sizes.get(node.name)?.height ?? 0)) + GAP.y;
  });
  for (const to of placed.values()) {
    for (const name of reduced(to.node, nodes)) {
      const from = placed.get(name);
      if (from) lines.push({ from: from.path, to: to.path, points: [from.x + from.width / 2, from.y + from.height, to.x + to.width / 2, to.y] });
    }
  }
  return { boxes, lines, width, height: Math.max(0, y - GAP.y) };
}

/** Each node one layer below the lowest that it waits for; in a circle, who comes first in the file stands above. */
export function layersOf(nodes: readonly GraphNode[]): GraphNode[][] {
  const known = new Map(nodes.map((node) => [node.name, node]));
  const depth = new Map<string, number>();
  const visit = (node: GraphNode, way: ReadonlySet<string>): number => {
    const found = depth.get(node.name);
    if (found !== undefined) return found;
    let deepest = -1;
    for (const name of node.needs) {
      const other = known.get(name);
      if (other && !way.has(name)) deepest = Math.max(deepest, visit(other, new Set([...way, node.name])));
    }
    depth.set(node.name, deepest + 1);
    return deepest + 1;
  };
  nodes.forEach((node) => visit(node, new Set([node.name])));
  const layers: GraphNode[][] = [];
  for (const node of nodes) (layers[depth.get(node.name) ?? 0] ??= []).push(node);
  return ordered(layers.filter((layer) => layer !== undefined));
}

/** Within a layer, boxes stand below the middle of those they wait for. */
function ordered(layers: GraphNode[][]): GraphNode[][] {
  const at = new Map<string, number>();
  return layers.map((layer) => {
    const middle = (node: GraphNode, index: number): number => {
      const places = node.needs.map((name) => at.get(name)).filter((place) => place !== undefined);
      return places.length ? sum(places) / places.length : index / Math.max(1, layer.length - 1);
    };
    const sorted = layer.map((node, index) => ({ node, key: middle(node, index), index }));
    sorted.sort((left, right) => left.key - right.key || left.index - right.index);
    sorted.forEach(({ node }, index) => at.set(node.name, sorted.length > 1 ? index / (sorted.length - 1) : 0.5));
    return sorted.map(({ node }) => node);
  });
}

/** What a node waits for, without what it waits for through another anyway. */
function reduced(node: GraphNode, nodes: readonly GraphNode[]): string[] {
  const known = new Map(nodes.map((each) => [each.name, each]));
  const reach = (name: string, seen: Set<string>): Set<string> => {
    for (const next of known.get(name)?.needs ?? []) {
      if (seen.has(next)) continue;
      seen.add(next);
      reach(next, seen);
    }
    return seen;
  };
  return node.needs.filter((name) => !node.needs.some((other) => other !== name && reach(other, new Set()).has(name)));
}

function insideOf(node: GraphNode, above: string): Drawing | undefined {
  return node.inner?.length ? drawingOf(node.inner, join(above, node.name)) : undefined;
}

function sizeOf(node: GraphNode, inner: Drawing | undefined): { width: number; height: number } {
  const label = Math.min(BOX.most, Math.max(BOX.least, node.name.length * LETTER + BOX.padding));
  if (!inner) return { width: label, height: BOX.height };
  const width = Math.max(label + 56, inner.width + FRAME.side * 2);
  return { width, height: inner.height + FRAME.top + FRAME.bottom };
}

const moved = (line: Line, x: number, y: number): Line => ({
  ...line,
  points: [line.points[0] + x, line.points[1] + y, line.points[2] + x, line.points[3] + y],
});
const join = (above: string, name: string): string => (above ? `${above}/${name}` : name);
const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);
