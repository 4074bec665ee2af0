// The iterations of one loop and the steps of each, as a table: which step took the time and the money, at one look.
import type { Row, Stage } from "../shape";
import { badgeOf, duration, took } from "./words";
import { toneOf } from "./row";

/** The newest iterations that are drawn. */
export const MOST = 200;

interface Props {
  row: Row;
  rows: readonly Row[];
  now: number;
  onSelect: (id: string) => void;
}

/** The iterations of the loop that `row` is of, and the names of their steps in the order in which they first ran. */
export function tableOf(rows: readonly Row[], row: Row): { iterations: Row[]; steps: string[] } {
  const loop = row.kind === "loop" ? row.id : row.parent;
  const like = row.kind === "iteration" ? (one: Row) => one.name === row.name && one.parent === row.parent : (one: Row) => one.parent === loop;
  const iterations = rows.filter((one) => one.kind === "iteration" && like(one));
  const steps = new Set(iterations.flatMap((one) => one.stages.map((stage) => stage.name)));
  return { iterations, steps: [...steps] };
}

export function TableView({ row, rows, now, onSelect }: Props) {
  const { iterations, steps } = tableOf(rows, row);
  if (iterations.length === 0) return <p class="empty">There are no iterations here.</p>;
  const shown = iterations.slice(-MOST);
  return (
    <>
      {shown.length < iterations.length ? <p class="cut">The last {MOST} of {iterations.length.toLocaleString("en-US")} iterations.</p> : null}
      <table class="facts steps">
        <caption class="unseen">Iterations and their steps</caption>
        <thead>
          <tr>
            <th scope="col">No.</th>
            <th scope="col">Verdict</th>
            {steps.map((name) => (
              <th scope="col" key={name}>
                {name}
              </th>
            ))}
            <th scope="col">Time</th>
            <th scope="col">Cost</th>
            <th scope="col">Tokens</th>
          </tr>
        </thead>
        <tbody>
          {shown.map((one) => (
            <tr key={one.id} class={one.id === row.id ? "selected" : ""}>
              <th scope="row">
                <button type="button" class="link" aria-label={`Show iteration ${one.number}`} onClick={() => onSelect(one.id)}>
                  {one.number}
                  {one.attempt > 1 ? `.${one.attempt}` : ""}
                </button>
              </th>
              <td class={`tone-${toneOf(one)}`}>{badgeOf(one)}</td>
              {steps.map((name) => (
                <td key={name}>{cell(one.stages.findLast((stage) => stage.name === name), now)}</td>
              ))}
              <td>{duration(took(one, one.endedAt ? 0 : now))}</td>
              <td>{one.cost ?? ""}</td>
              <td>{one.tokens ? one.tokens.toLocaleString("en-US") : ""}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

function cell(stage: Stage | undefined, now: number): string {
  if (!stage) return "–";
  const parts = [stage.status === "completed" ? "" : stage.status, stage.startedAt ? duration(took(stage, now)) : "", stage.cost ?? ""];
  return parts.filter(Boolean).join(" · ");
}
