// One row of the timeline: number, verdict, how the output begins, its steps, time and money.
import { memo } from "preact/compat";
import type { Head, Live, Round, Row, Stage } from "../shape";
import { Icon, type IconName } from "./icons";
import { count } from "../../runs/amounts";
import { VERDICTS } from "../../contract/endings";
import { badgeOf, duration, rowLabel, took } from "./words";

interface Props {
  row: Row;
  level: number;
  open: boolean | undefined;
  top: number;
  height: number;
  position: number;
  count: number;
  selected: boolean;
  stop: boolean;
  live: Live | undefined;
  round: Round | undefined;
  unit: Head["unit"];
  /** The moment, for rows that still run; 0 for all others. */
  now: number;
  onSelect: (id: string) => void;
  onToggle: () => void;
}

const CHIPS = 6;

export const TimelineRow = memo(function TimelineRow(props: Props) {
  const { row, level, open, selected } = props;
  return (
    <div
      class={`row ${row.kind} status-${row.status}${selected ? " selected" : ""}`}
      role="treeitem"
      id={`row-${row.id}`}
      aria-level={level}
      aria-expanded={open}
      aria-selected={selected}
      aria-setsize={props.count}
      aria-posinset={props.position}
      tabIndex={props.stop ? 0 : -1}
      style={{ top: `${props.top}px`, height: `${props.height}px`, paddingLeft: `${10 + (level - 1) * 18}px` }}
      onClick={() => props.onSelect(row.id)}
      onDblClick={open === undefined ? undefined : props.onToggle}
    >
      <span class="unseen">{rowLabel(row, props.unit, props.now)}</span>
      <div class="seen" aria-hidden="true">
        <span class="twist" onClick={(event) => (event.stopPropagation(), props.onToggle())}>
          {open === undefined ? null : <Icon name={open ? "down" : "right"} />}
        </span>
        {row.kind === "loop" ? <Heading row={row} /> : row.kind === "step" ? <Step row={row} now={props.now} live={props.live} /> : <Iteration {...props} />}
      </div>
    </div>
  );
});

function Heading({ row }: { row: Row }) {
  return (
    <>
      <Icon name="loop" />
      <span class="name">{row.name}</span>
      <span class="gist">{row.condition ? `until ${row.condition}` : ""}</span>
      <span class="figures">{row.max ? `${row.number}/${row.max}` : row.number}</span>
    </>
  );
}

function Step({ row, now, live }: { row: Row; now: number; live: Live | undefined }) {
  return (
    <>
      <Icon name={iconOf(row)} tone={toneOf(row)} />
      <span class="name">{row.name}</span>
      <span class={`gist${row.note ? " note" : ""}`}>{row.note || (live ? tail(live) : row.excerpt)}</span>
      <Figures row={row} now={now} />
    </>
  );
}

function Iteration({ row, now, live, round, unit }: Props) {
  return (
    <>
      <Icon name={iconOf(row)} tone={toneOf(row)} />
      <span class="number">{row.number}</span>
      <div class="lines">
        <div class="line">
          <span class={`badge tone-${toneOf(row)}`}>{unit === "round" && round ? roundBadge(row, round) : badgeOf(row)}</span>
          {row.attempt > 1 ? <span class="chip">attempt {row.attempt}</span> : null}
          {row.item ? <span class="chip">{row.item}</span> : null}
          {live ? (
            <span class="gist live">{tail(live)}</span>
          ) : (
            <span class={`gist${row.note ? " note" : ""}`}>{row.note || (round ? roundGist(round, row) : row.excerpt)}</span>
          )}
        </div>
        <div class="line small">
          <Chips stages={row.stages} />
          {row.warnings.length > 0 ? (
            <span class="chip warn" title={row.warnings.join("\n")}>
              {count(row.warnings.length, "warning")}
            </span>
          ) : null}
        </div>
      </div>
      <Figures row={row} now={now} />
    </>
  );
}

function Chips({ stages }: { stages: readonly Stage[] }) {
  const shown = stages.slice(-CHIPS);
  return (
    <>
      {stages.length > shown.length ? <span class="stage">+{stages.length - shown.length}</span> : null}
      {shown.map((stage) => (
        <span key={stage.place} class={`stage status-${stage.status}`} title={stage.note}>
          {stage.name} {(stage.verdict && VERDICTS[stage.verdict]) || SIGNS[stage.status]}
        </span>
      ))}
    </>
  );
}

function Figures({ row, now }: { row: Row; now: number }) {
  return (
    <span class="figures">
      <span>{row.endedAt || now ? duration(took(row, now)) : ""}</span>
      <span>{row.cost}</span>
    </span>
  );
}

const SIGNS: Record<Stage["status"], string> = { running: "…", waiting: "?", completed: "✓", failed: "✗", cancelled: "◼", skipped: "–" };

const tail = (live: Live): string => `${live.label}: ${live.text.slice(-160).replace(/\s+/g, " ").trimStart()}`;

function roundBadge(row: Row, round: Round): string {
  if (round.status === "converged") return "converged";
  if (!round.reported) return badgeOf(row);
  return `${round.failed.length} failed`;
}

function roundGist(round: Round, row: Row): string {
  if (round.doing) return round.doing;
  if (round.applied.length) return `${count(round.applied.length, "change")} applied: ${round.rationale || row.excerpt}`;
  if (round.failed[0]) return `${round.failed[0].step}: ${round.failed[0].message}`;
  return row.excerpt;
}

export function iconOf(row: Row): IconName {
  switch (row.status) {
    case "running":
      return "ring";
    case "waiting":
      return "person";
    case "failed":
      return "cross";
    case "cancelled":
    case "skipped":
      return "dash";
    case "completed":
      return row.kind === "step" || row.verdict === "yes" ? "check" : "dot";
  }
}

export function toneOf(row: Row): string {
  switch (row.status) {
    case "running":
    case "waiting":
      return "going";
    case "failed":
      return "bad";
    case "cancelled":
    case "skipped":
      return "still";
    case "completed":
      return row.verdict === "yes" || (row.kind === "step" && !row.verdict) ? "good" : row.verdict === "no" ? "no" : row.verdict ? "limit" : "still";
  }
}
