// The steps and loops of the run as a picture that lights up while it goes on, and the same in words for those who
// do not see it.
import { useMemo } from "preact/hooks";
import type { GraphNode, Head, NodeState } from "../../shape";
import { type Box, drawingOf, type Line } from "./layout";

const EDGE = 12;
const SIGNS: Record<NodeState["status"], string> = { running: "●", waiting: "?", completed: "✓", failed: "✗", cancelled: "◼", skipped: "–" };

export function Graph({ graph, nodes, head }: { graph: readonly GraphNode[]; nodes: Readonly<Record<string, NodeState>>; head: Head }) {
  const drawing = useMemo(() => drawingOf(graph), [graph]);
  if (graph.length === 0) return <p class="empty">There is no graph of this run.</p>;
  const width = drawing.width + EDGE * 2;
  const height = drawing.height + EDGE * 2;
  const ended = head.ended;
  return (
    <figure class="graph">
      <svg role="img" aria-label={`Graph of ${head.name}: ${inWords(drawing.boxes, nodes)}`} viewBox={`${-EDGE} ${-EDGE} ${width} ${height}`} width={width} height={height}>
        <defs>
          <marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
            <path d="M0 .5 7.5 4 0 7.5z" />
          </marker>
        </defs>
        {drawing.boxes.filter((box) => box.frame).map((box) => (
          <Frame key={box.path} box={box} state={nodes[box.path]} />
        ))}
        {drawing.lines.map((line) => (
          <Edge key={`${line.from}>${line.to}`} line={line} lit={nodes[line.from]?.status === "completed" && nodes[line.to] !== undefined} />
        ))}
        {drawing.boxes.filter((box) => !box.frame).map((box) => (
          <Node key={box.path} box={box} state={nodes[box.path]} ended={ended} />
        ))}
      </svg>
    </figure>
  );
}

function Node({ box, state }: { box: Box; state: NodeState | undefined; ended: boolean }) {
  const { x, y, width, height, node } = box;
  const loop = node.kind === "loop";
  return (
    <g class={`node status-${state?.status ?? "idle"}${loop ? " loop" : ""}`}>
      <title>{[node.name, node.mode, state?.status, node.condition ? `until ${node.condition}` : ""].filter(Boolean).join(" · ")}</title>
      <rect x={x} y={y} width={width} height={height} rx="6" />
      <text x={x + 12} y={y + height / 2} class="label">
        {fitted(node.name, width - 40)}
      </text>
      <text x={x + width - 12} y={y + height / 2} class="sign">
        {state?.note ?? (state ? SIGNS[state.status] : loop ? "⟲" : "")}
      </text>
    </g>
  );
}

function Frame({ box, state }: { box: Box; state: NodeState | undefined }) {
  const { x, y, width, height, node } = box;
  const loop = node.kind === "loop";
  const right = x + width - 5;
  return (
    <g class={`frame status-${state?.status ?? "idle"}${loop ? " loop" : ""}`}>
      <title>{[node.name, node.workflow ? `calls ${node.workflow}` : "", node.condition ? `until ${node.condition}` : ""].filter(Boolean).join(" · ")}</title>
      <rect x={x} y={y} width={width} height={height} rx="8" />
      <text x={x + 12} y={y + 18} class="label">
        {fitted(node.name, width - 70)}
      </text>
      <text x={x + width - 14} y={y + 18} class="sign">
        {loop ? `⟲ ${state?.note ?? (node.maxIterations ? `≤ ${node.maxIterations}` : "")}` : ""}
      </text>
      {loop ? <path class="back" d={`M${right - 9} ${y + height - 14} Q${right} ${y + height - 14} ${right} ${y + height - 24} V${y + 46} Q${right} ${y + 36} ${right - 9} ${y + 36}`} marker-end="url(#arrow)" /> : null}
    </g>
  );
}

function Edge({ line, lit }: { line: Line; lit: boolean }) {
  const [x1, y1, x2, y2] = line.points;
  const bend = Math.max(14, (y2 - y1) / 2);
  return <path class={`edge${lit ? " lit" : ""}`} d={`M${x1} ${y1} C${x1} ${y1 + bend} ${x2} ${y2 - bend} ${x2} ${y2 - 2}`} marker-end="url(#arrow)" />;
}

const fitted = (name: string, width: number): string => {
  const most = Math.max(4, Math.floor(width / 6.6));
  return name.length > most ? `${name.slice(0, most - 1)}…` : name;
};

function inWords(boxes: readonly Box[], nodes: Readonly<Record<string, NodeState>>): string {
  return boxes
    .map(({ path, node }) => {
      const state = nodes[path];
      const needs = node.needs.length ? ` after ${node.needs.join(" and ")}` : "";
      return `${node.kind} ${node.name}${needs}${state ? `, ${state.status}${state.note ? ` ${state.note}` : ""}` : ""}`;
    })
    .join("; ");
}
