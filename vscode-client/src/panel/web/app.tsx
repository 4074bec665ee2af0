// The panel as a whole: what is selected, what follows the run, what is said aloud. Draws; asks by messages only.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Detail, Row, Tab, Wish } from "../shape";
import { Bars } from "./bars";
import { Details, tabsOf } from "./details";
import { Header } from "./head/header";
import { type Model, newest, roundOf } from "./model";
import { keep, type Kept, say } from "./talk";
import { Skeleton } from "./skeleton";
import { Timeline } from "./timeline";
import { announcement } from "./words";

interface Props {
  model: Model;
  detail: Detail | undefined;
  /** What the host wants to be shown; `at` tells one wish from the next. */
  wish: (Wish & { at: number }) | undefined;
  kept: Kept;
}

export function App({ model, detail, wish, kept }: Props) {
  const { head, rows } = model;
  const [chosen, setChosen] = useState<string | undefined>(kept.followed === false ? kept.selected : undefined);
  const [tab, setTab] = useState<Tab | undefined>(kept.tab);
  const now = useNow(head?.working === true || rows.some((row) => row.endedAt === undefined && head?.ended === false));
  useEffect(() => {
    if (!wish) return;
    setChosen(wish.select);
    if (wish.tab) setTab(wish.tab);
  }, [wish?.at]);
  const latest = useMemo(() => newest(rows), [rows]);
  const selected = chosen !== undefined && model.byId.has(chosen) ? chosen : latest?.id;
  const row = selected === undefined ? undefined : model.byId.get(selected);
  const follows = chosen === undefined || chosen === latest?.id;
  const shownTab = tab ?? (head ? tabsOf(head)[0] : undefined) ?? "output";
  useEffect(() => {
    if (head) keep({ runId: head.runId, selected, tab: shownTab, followed: follows });
  }, [head?.runId, selected, shownTab, follows]);
  useEffect(() => {
    if (model.reading) return;
    performance.mark("drawn");
    say({ type: "drawn", rows: rows.length, ms: Math.round(performance.now()) });
  }, [model.reading]);
  const spoken = useSpoken(model);
  const started = useRef(0);
  const elapsedMs = useElapsed(model, now, started);
  const showChanges = (): void => {
    setTab("round");
    requestAnimationFrame(() => document.getElementById("changes")?.scrollIntoView({ block: "start" }));
  };
  return (
    <main
      class={head?.working ? "working" : ""}
      aria-label={head ? `Run of ${head.name}` : "Run"}
      data-reading={model.reading}
      onKeyDown={(event) => {
        if (event.key !== "Escape" || event.defaultPrevented) return;
        document.querySelector<HTMLElement>('[role="treeitem"][aria-selected="true"]')?.focus();
      }}
    >
      {head ? <Header head={head} elapsedMs={elapsedMs} row={row?.kind === "iteration" ? row.id : undefined} /> : null}
      <Bars head={head} banner={model.banner} onShow={showChanges} />
      {head ? (
        <div class="body">
          <section class="times" aria-label="Timeline">
            <Timeline
              rows={rows}
              live={model.live}
              rounds={model.rounds}
              unit={head.unit}
              selected={selected}
              now={now}
              reading={model.reading}
              onSelect={(id) => setChosen(id === latest?.id ? undefined : id)}
              onEnter={() => document.getElementById("pane")?.focus()}
            />
            {!follows && !head.ended ? (
              <button type="button" class="plain follow" onClick={() => setChosen(undefined)}>
                Follow the run
              </button>
            ) : null}
          </section>
          <Details
            head={head}
            row={row}
            rows={rows}
            round={roundOf(model, row)}
            live={model.live}
            detail={detail}
            graph={model.graph}
            nodes={model.nodes}
            tab={shownTab}
            now={now}
            onTab={setTab}
            onSelect={(id) => setChosen(id === latest?.id ? undefined : id)}
          />
        </div>
      ) : model.banner ? null : (
        <>
          <p class="loading" role="status">
            Reading the run…
          </p>
          <Skeleton lines={6} />
        </>
      )}
      <div class="unseen" aria-live="polite" role="status">
        {spoken}
      </div>
    </main>
  );
}

/** The moment, once a second while something goes on. */
function useNow(going: boolean): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    if (!going) return;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, [going]);
  return now;
}

/** The time that the run has worked, which goes on between two states. */
function useElapsed(model: Model, now: number, taken: { current: number }): number {
  const { head } = model;
  const known = useRef(-1);
  if (head && head.elapsedMs !== known.current) {
    known.current = head.elapsedMs;
    taken.current = Date.now();
  }
  if (!head) return 0;
  return head.working ? head.elapsedMs + Math.max(0, now - taken.current) : head.elapsedMs;
}

/** What a screen reader says: how iterations begin and end, and how the run ended. Nothing of what was before. */
function useSpoken(model: Model): string {
  const [spoken, setSpoken] = useState("");
  const before = useRef<{ byId: ReadonlyMap<string, Row>; status: string } | undefined>(undefined);
  useEffect(() => {
    const { head, byId, reading } = model;
    if (!head || reading) return;
    const known = before.current;
    before.current = { byId, status: head.status };
    if (!known) return;
    if (head.status !== known.status && (head.ended || head.status === "paused")) {
      setSpoken(`${head.name}: ${head.sentence}`);
      return;
    }
    const changed = [...byId.values()].findLast((row) => {
      const old = known.byId.get(row.id);
      return old !== row && (old?.status !== row.status || old?.verdict !== row.verdict);
    });
    const said = changed && announcement(changed, head.unit);
    if (said) setSpoken(said);
  }, [model]);
  return spoken;
}
