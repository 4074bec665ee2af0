// What lies behind the selected row, in tabs: what it said, what the judge was asked, the prompts, the facts, the
// graph. Texts are asked for when their tab is opened, and again when the row got further.
import { useEffect, useRef, useState } from "preact/hooks";
import type { Detail, GraphNode, Head, Live, NodeState, Round, Row, Tab } from "../shape";
import { Graph } from "./graph/graph";
import { Icon } from "./icons";
import { before, numbered } from "./model";
import { EventsView, OutputView, PromptView, QuestionView } from "./panes";
import { rove } from "./roving";
import { RoundView } from "./round";
import { TableView } from "./table";
import { toneOf } from "./row";
import { act, say } from "./talk";
import { count } from "../../runs/amounts";
import { badgeOf, duration, took } from "./words";

const NAMES: Record<Tab, string> = {
  round: "Round",
  output: "Output",
  question: "Question to the judge",
  prompt: "Prompt",
  table: "Table",
  events: "Events",
  graph: "Graph",
};

interface Props {
  head: Head;
  row: Row | undefined;
  rows: readonly Row[];
  round: Round | undefined;
  live: readonly Live[];
  detail: Detail | undefined;
  graph: readonly GraphNode[];
  nodes: Readonly<Record<string, NodeState>>;
  tab: Tab;
  now: number;
  onTab: (tab: Tab) => void;
  onSelect: (id: string) => void;
}

export const tabsOf = (head: Head): Tab[] =>
  head.format === "enhance"
    ? ["round", "output", "prompt", "table", "events", "graph"]
    : ["output", ...(head.judged ? (["question"] as const) : []), "prompt", "table", "events", "graph"];

export function Details(props: Props) {
  const { head, row, tab } = props;
  const tabs = tabsOf(head);
  const shown = tabs.includes(tab) ? tab : (tabs[0] ?? "output");
  const grown = row ? `${row.id} ${row.status} ${row.verdict ?? ""} ${row.stages.filter((stage) => stage.endedAt !== undefined).length}` : "";
  useEffect(() => {
    if (row && shown !== "round" && shown !== "table" && (shown !== "graph" || head.format === "enhance")) say({ type: "detail", row: row.id, tab: shown });
  }, [grown, shown, shown === "events" ? row?.last : 0]);
  const detail = props.detail?.row === row?.id && props.detail?.tab === shown ? props.detail : undefined;
  return (
    <section class="details" aria-label="Details">
      {row && shown !== "graph" ? <RowHead {...props} row={row} /> : null}
      <div
        class="tabs"
        role="tablist"
        aria-label="What to show"
        onKeyDown={(event) => {
          const next = rove(event, '[role="tab"]');
          if (next) props.onTab(next.dataset.tab as Tab);
        }}
      >
        {tabs.map((one) => (
          <button
            key={one}
            type="button"
            role="tab"
            id={`tab-${one}`}
            data-tab={one}
            aria-selected={one === shown}
            aria-controls="pane"
            tabIndex={one === shown ? 0 : -1}
            onClick={() => props.onTab(one)}
          >
            {NAMES[one]}
          </button>
        ))}
      </div>
      <div class="pane" id="pane" role="tabpanel" aria-labelledby={`tab-${shown}`} tabIndex={0}>
        <Pane {...props} shown={shown} detail={detail} />
      </div>
    </section>
  );
}

function Pane({ shown, row, rows, round, live, detail, graph, nodes, head, now, onSelect }: Props & { shown: Tab }) {
  if (shown === "graph") return <Graph graph={detail?.graph ?? graph} nodes={nodes} head={head} />;
  if (!row) return <p class="empty">Select an iteration to see what it said.</p>;
  switch (shown) {
    case "round":
      return round ? <RoundView round={round} head={head} /> : <p class="empty">Select a round to see what became of it.</p>;
    case "output":
      return <OutputView row={row} detail={detail} live={live.filter((one) => one.row === row.id)} />;
    case "question":
      return <QuestionView row={row} detail={detail} />;
    case "prompt":
      return <PromptView row={row} detail={detail} />;
    case "table":
      return <TableView row={row} rows={rows} now={now} onSelect={onSelect} />;
    case "events":
      return <EventsView detail={detail} />;
  }
}

function RowHead({ head, row, rows, now }: Props & { row: Row }) {
  const previous = before(rows, row);
  const [other, setOther] = useState<number>();
  const last = useRef(row.id);
  if (last.current !== row.id) {
    last.current = row.id;
    if (other !== undefined) setOther(undefined);
  }
  const number = other ?? previous?.number;
  const compared = number === undefined ? undefined : numbered(rows, row, number);
  const unit = head.unit === "round" && row.parent === undefined ? "Round" : "Iteration";
  return (
    <div class="rowhead">
      <h2>
        {row.kind === "iteration" ? `${unit} ${row.number}` : row.name}
        {row.kind === "iteration" && row.max ? <span class="of"> of {row.max}</span> : null}
      </h2>
      <span class={`badge tone-${toneOf(row)}`}>{badgeOf(row)}</span>
      <span class="facts">
        {duration(took(row, now))}
        {row.cost ? ` · ${row.cost}` : ""}
        {row.tokens ? <span class="wide"> · {count(row.tokens, "token")}</span> : null}
      </span>
      {row.kind === "iteration" && rows.some((one) => one !== row && one.kind === "iteration" && one.name === row.name) ? (
        <span class="compare">
          <button
            type="button"
            class="plain"
            disabled={!compared || compared.id === row.id}
            onClick={() => compared && act({ verb: "diff", left: compared.number < row.number ? compared.id : row.id, right: compared.number < row.number ? row.id : compared.id })}
          >
            <Icon name="diff" />
            Diff with
          </button>
          <input
            type="number"
            min={1}
            aria-label={`${unit} to compare with`}
            value={number ?? ""}
            onInput={(event) => setOther(event.currentTarget.valueAsNumber || undefined)}
          />
        </span>
      ) : null}
    </div>
  );
}
