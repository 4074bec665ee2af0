// All runs: what waits for a person first, then what runs, then what has ended. Filters stand in the address.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { sentenceOf, toneOf } from "../panel/head";
import { clock, money } from "../runs/amounts";
import { hasEnded, type RunState } from "../runs/state";
import { nameOf, natureOf, progressOf, since } from "../runs/words";
import type { Engine } from "./engine";
import { Question, useInbox } from "./inbox";
import { addressTo, go, refine } from "./route";

const SHOWN = ["all", "waiting", "running", "ended"] as const;
type Shown = (typeof SHOWN)[number];
const TITLES: Record<Shown, string> = { all: "All", waiting: "Waits for you", running: "Runs", ended: "Ended" };
const STEP = 100;

function useRuns(engine: Engine): { runs: RunState[]; read: boolean } {
  const [runs, setRuns] = useState(() => engine.runs.all());
  const [read, setRead] = useState(runs.length > 0);
  useEffect(() => {
    let frame = 0;
    const soon = (): void => {
      frame ||= requestAnimationFrame(() => {
        frame = 0;
        setRuns(engine.runs.all());
      });
    };
    const parts = [
      engine.runs.onDidChange(soon),
      engine.runs.onDidRemove(soon),
      engine.list.onDidRead(() => {
        setRead(true);
        soon();
      }),
    ];
    return () => {
      cancelAnimationFrame(frame);
      for (const part of parts) part.dispose();
    };
  }, [engine]);
  return { runs, read };
}

export function Runs({ engine, query, acts }: { engine: Engine; query: URLSearchParams; acts: boolean }) {
  const { runs, read } = useRuns(engine);
  const waiting = useInbox(engine);
  const asked = query.get("show");
  const show = SHOWN.find((one) => one === asked) ?? "all";
  const words = query.get("find") ?? "";
  const [most, setMost] = useState(STEP);
  const find = useRef<HTMLInputElement>(null);
  const [picked, setPicked] = useState<readonly string[]>([]);
  useEffect(() => {
    document.title = waiting?.length ? `(${waiting.length}) Loops` : "Loops";
  }, [waiting?.length]);
  const fitting = useMemo(() => runs.filter((state) => fits(state, words)), [runs, words]);
  const questions = (waiting ?? []).filter((one) => !words || `${one.name} ${one.text}`.toLowerCase().includes(words.toLowerCase()));
  const going = fitting.filter((state) => !hasEnded(state));
  const ended = fitting.filter(hasEnded);
  const keys = (event: KeyboardEvent): void => {
    const { target } = event;
    if (event.ctrlKey || event.metaKey || event.altKey || (target instanceof HTMLElement && target.matches("input, textarea, select"))) return;
    if (event.key === "/") {
      event.preventDefault();
      find.current?.focus();
    } else if (event.key === "j" || event.key === "k") {
      step(event.key === "j" ? 1 : -1);
    }
  };
  useEffect(() => {
    document.addEventListener("keydown", keys);
    return () => document.removeEventListener("keydown", keys);
  }, []);
  const pick = (id: string): void => setPicked((before) => (before.includes(id) ? before.filter((one) => one !== id) : [...before, id].slice(-2)));
  const rows = (states: readonly RunState[]) => (
    <ul class="rows">
      {states.map((state) => (
        <RunRow key={state.runId} state={state} picked={picked.includes(state.runId)} onPick={() => pick(state.runId)} />
      ))}
    </ul>
  );
  const [left, right] = picked;
  return (
    <main class="page" aria-label="Runs">
      <div class="filters" role="search">
        <label>
          <span class="unseen">Show</span>
          <select value={show} onChange={(event) => refine([], { show: shownOf(event.currentTarget.value), find: words })}>
            {SHOWN.map((one) => (
              <option key={one} value={one}>
                {TITLES[one]}
              </option>
            ))}
          </select>
        </label>
        <label>
          <span class="unseen">Find by name, file, status or label</span>
          <input
            ref={find}
            type="search"
            placeholder="Find ( / )"
            value={words}
            onInput={(event) => refine([], { show: shownOf(show), find: event.currentTarget.value })}
          />
        </label>
        {acts ? (
          <a class="button" href={addressTo(["start"])}>
            Start a loop…
          </a>
        ) : null}
        <button type="button" class="plain" disabled={!right} title="Choose two runs first" onClick={() => go(["compare"], { left, right })}>
          Compare {picked.length} of 2
        </button>
      </div>
      {!read ? (
        <p class="loading" role="status">
          Reading the runs…
        </p>
      ) : null}
      {show === "all" || show === "waiting" ? (
        <section aria-labelledby="waiting">
          <h2 id="waiting">
            {TITLES.waiting} <span class="muted">{waiting?.length ?? ""}</span>
          </h2>
          {waiting && questions.length === 0 ? <p class="empty">Nothing is waiting for you.</p> : null}
          <ul class="rows">
            {questions.map((one) => (
              <Question key={`${one.runId} ${one.id ?? ""} ${one.kind}`} engine={engine} asked={one} />
            ))}
          </ul>
        </section>
      ) : null}
      {show === "all" || show === "running" ? (
        <section aria-labelledby="running">
          <h2 id="running">
            {TITLES.running} <span class="muted">{going.length}</span>
          </h2>
          {read && going.length === 0 ? <p class="empty">No loop is running.</p> : null}
          {rows(going)}
        </section>
      ) : null}
      {show === "all" || show === "ended" ? (
        <section aria-labelledby="ended">
          <h2 id="ended">
            {TITLES.ended} <span class="muted">{ended.length}</span>
          </h2>
          {read && ended.length === 0 ? <p class="empty">{words ? "No matching runs." : "No runs yet."}</p> : null}
          {rows(ended.slice(0, most))}
          {ended.length > most || engine.list.more ? (
            <button
              type="button"
              class="plain"
              onClick={() => {
                setMost(most + STEP);
                if (ended.length <= most + STEP) void engine.list.readMore();
              }}
            >
              Show more
            </button>
          ) : null}
        </section>
      ) : null}
    </main>
  );
}

function RunRow({ state, picked, onPick }: { state: RunState; picked: boolean; onPick: () => void }) {
  const name = nameOf(state);
  const facts = [progressOf(state), money(state.costUsd), state.elapsedMs ? clock(state.elapsedMs) : "", since(state.startedAt), ...natureOf(state)];
  const more = [String(state.path ?? "").split("/").at(-1), state.label, state.user === "owner" ? "" : state.user].filter(Boolean);
  return (
    <li class={`line tone-${toneOf(state)}`}>
      <span class="light" aria-hidden="true" />
      <a class="name" href={addressTo(["runs", state.runId])}>
        {name}
      </a>
      <span class="how">{sentenceOf(state)}</span>
      <span class="facts muted">{[...facts, ...more].filter(Boolean).join(" · ")}</span>
      <label class="pick">
        <input type="checkbox" checked={picked} onChange={onPick} />
        <span class="unseen">
          Compare {name}, {state.runId.slice(0, 8)}
        </span>
      </label>
    </li>
  );
}

const shownOf = (show: string): string | undefined => (show === "all" ? undefined : show);

function fits(state: RunState, words: string): boolean {
  const text = [nameOf(state), state.name, state.path, state.runId, state.label, state.user, state.format, sentenceOf(state)].join(" ").toLowerCase();
  return words.toLowerCase().split(/\s+/).every((word) => text.includes(word));
}

/** The link of the next run, or of the one before. */
function step(by: number): void {
  const links = [...document.querySelectorAll<HTMLElement>(".line a.name, .asked a")];
  const at = links.indexOf(document.activeElement as HTMLElement);
  links[Math.min(links.length - 1, Math.max(0, at + by))]?.focus();
}
