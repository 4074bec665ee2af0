// Two runs beside each other: how they stand, what they cost, and their iterations in pairs of the same place and number.
import { useEffect, useState } from "preact/hooks";
import { sentenceOf } from "../panel/head";
import type { Row } from "../panel/shape";
import { badgeOf } from "../panel/web/words";
import { clock, money } from "../runs/amounts";
import type { RunState } from "../runs/state";
import { nameOf, progressOf } from "../runs/words";
import type { Engine } from "./engine";
import { addressTo, refine } from "./route";

interface Side {
  state: RunState;
  rows: Row[];
}

interface Pair {
  key: string;
  left?: Row;
  right?: Row;
}

export function pairsOf(left: readonly Row[], right: readonly Row[]): Pair[] {
  const found = new Map<string, Pair>();
  const take = (rows: readonly Row[], side: "left" | "right"): void => {
    for (const row of rows) {
      if (row.kind !== "iteration") continue;
      // The last try of an iteration counts; loops and parallel loops are told apart by the path.
      const key = row.id.replace(/#.*$/, "");
      found.set(key, { ...found.get(key), key, [side]: row });
    }
  };
  take(left, "left");
  take(right, "right");
  return [...found.values()];
}

const differs = ({ left, right }: Pair): boolean =>
  !left || !right || left.verdict !== right.verdict || left.status !== right.status || left.excerpt !== right.excerpt || left.length !== right.length;

export function Compare({ engine, query }: { engine: Engine; query: URLSearchParams }) {
  const [left, right] = [query.get("left") ?? "", query.get("right") ?? ""];
  const onlyDifferent = query.get("only") === "different";
  const [sides, setSides] = useState<[Side, Side] | string>();
  useEffect(() => {
    let gone = false;
    document.title = "Compare runs";
    void Promise.all([read(engine, left), read(engine, right)]).then(([one, other]) => {
      if (!gone) setSides(typeof one === "string" ? one : typeof other === "string" ? other : [one, other]);
    });
    return () => {
      gone = true;
    };
  }, [left, right]);
  if (sides === undefined) return <main class="page loading">Reading the runs…</main>;
  if (typeof sides === "string") return <main class="page"><p role="alert">{sides}</p></main>;
  const pairs = pairsOf(sides[0].rows, sides[1].rows);
  const shown = onlyDifferent ? pairs.filter(differs) : pairs;
  return (
    <main class="page" aria-label="Compare">
      <h2>Compare</h2>
      <label>
        <input
          type="checkbox"
          checked={onlyDifferent}
          onChange={(event) => refine(["compare"], { left, right, only: event.currentTarget.checked ? "different" : undefined })}
        />{" "}
        Only what differs
      </label>
      <div class="scroll" tabIndex={0} role="group" aria-label="Iterations of both runs">
        <table class="compare">
          <thead>
            <tr>
              <th scope="col">Iteration</th>
              {sides.map(({ state }) => (
                <th key={state.runId} scope="col">
                  <a href={addressTo(["runs", state.runId])}>
                    {nameOf(state)} {state.runId.slice(0, 8)}
                  </a>
                  <div class="muted">{[sentenceOf(state), progressOf(state), money(state.costUsd), clock(state.elapsedMs ?? 0)].filter(Boolean).join(" · ")}</div>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map((pair) => (
              <tr key={pair.key}>
                <th scope="row">{pair.key}</th>
                <td>{cell(pair.left)}</td>
                <td>{cell(pair.right)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {shown.length === 0 ? <p class="empty">{pairs.length ? "No iteration differs." : "Neither run has an iteration."}</p> : null}
    </main>
  );
}

const cell = (row: Row | undefined): string => (row ? [badgeOf(row), row.cost, row.excerpt].filter(Boolean).join(" · ") : "–");

async function read(engine: Engine, runId: string): Promise<Side | string> {
  const rows: Row[] = [];
  for (let after = 0; ; ) {
    const answer = await engine.ask("loopLs.view", { runId, afterSeq: after, limit: 1000 });
    if (!answer?.ok) return [answer?.message, answer?.hint].filter(Boolean).join(" ") || "The engine is not responding.";
    rows.push(...(answer.rows as Row[]));
    if (answer.more !== true) return { state: answer.state as RunState, rows };
    after = Number(answer.seq);
  }
}
