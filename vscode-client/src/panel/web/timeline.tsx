// The timeline: iterations of loops with what they said, as a tree of which only the rows in sight are drawn.
// Arrow keys move through it; one row is the stop of the Tab key.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Head, Live, Round, Row } from "../shape";
import { TimelineRow } from "./row";
import { isOpen, type Key, type Opened, seenRows, stepOf } from "./tree";
import { offsetsOf, scrolledTo, windowOf } from "./virtual";

const HEIGHT: Record<Row["kind"], number> = { loop: 34, step: 34, iteration: 54 };
const KEYS = new Set(["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "Home", "End", "PageUp", "PageDown"]);

interface Props {
  rows: readonly Row[];
  live: readonly Live[];
  rounds: readonly Round[];
  unit: Head["unit"];
  selected: string | undefined;
  now: number;
  reading: boolean;
  onSelect: (id: string) => void;
  onEnter: () => void;
}

export function Timeline({ rows, live, rounds, unit, selected, now, reading, onSelect, onEnter }: Props) {
  const [opened, setOpened] = useState<Opened>({});
  const [view, setView] = useState({ top: 0, height: 400 });
  const box = useRef<HTMLDivElement>(null);
  const focusing = useRef(false);
  const cursor = useRef(selected); // keys may come faster than rows are drawn
  cursor.current = selected;
  const seen = useMemo(() => seenRows(rows, opened), [rows, opened]);
  const offsets = useMemo(() => offsetsOf(seen.map((one) => HEIGHT[one.row.kind])), [seen]);
  const at = seen.findIndex((one) => one.row.id === selected);

  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const measure = (): void => setView({ top: element.scrollTop, height: element.clientHeight });
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    measure();
    return () => observer.disconnect();
  }, []);

  useEffect(() => {
    const element = box.current;
    if (!element || at < 0) return;
    element.scrollTop = scrolledTo(offsets, at, element.scrollTop, element.clientHeight);
  }, [selected, at, offsets, view.height]);

  useEffect(() => {
    if (!focusing.current) return;
    const row = box.current?.querySelector<HTMLElement>('[aria-selected="true"]');
    if (row?.id !== `row-${cursor.current}`) return; // a key has come since: its row is drawn next
    focusing.current = false;
    row.focus({ preventScroll: true });
  });

  const toggle = (id: string, open: boolean): void => setOpened((before) => ({ ...before, [id]: open }));
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      onEnter();
      return;
    }
    if (!KEYS.has(event.key)) return;
    event.preventDefault();
    const step = stepOf(seen, cursor.current, event.key as Key, Math.max(1, Math.floor(view.height / HEIGHT.iteration) - 1));
    if (step.open) toggle(step.open.id, step.open.open);
    if (step.select === undefined) return;
    focusing.current = true;
    cursor.current = step.select;
    onSelect(step.select);
  };

  const { from, to } = windowOf(offsets, view.top, view.height);
  const liveOf = new Map(live.map((one) => [one.row, one]));
  const roundOf = new Map(rounds.map((round) => [round.row, round]));
  return (
    <div
      class="timeline"
      ref={box}
      onScroll={(event) => setView({ top: event.currentTarget.scrollTop, height: event.currentTarget.clientHeight })}
    >
      {seen.length === 0 ? <p class="empty">{reading ? "Reading the run…" : "Nothing has started yet."}</p> : null}
      <div class="rows" role="tree" aria-label={unit === "round" ? "Rounds" : "Iterations"} style={{ height: `${offsets.at(-1) ?? 0}px` }} onKeyDown={onKeyDown}>
        {seen.slice(from, to).map(({ row, level, open }, index) => (
          <TimelineRow
            key={row.id}
            row={row}
            level={level}
            open={open}
            top={offsets[from + index] ?? 0}
            height={HEIGHT[row.kind]}
            position={from + index + 1}
            count={seen.length}
            selected={row.id === selected}
            stop={row.id === selected || (at < 0 && from + index === 0)}
            live={liveOf.get(row.id)}
            round={roundOf.get(row.id)}
            unit={unit}
            now={row.endedAt === undefined ? now : 0}
            onSelect={onSelect}
            onToggle={() => toggle(row.id, !isOpen(row, opened))}
          />
        ))}
      </div>
    </div>
  );
}
