// Whole texts of a run, on a page of their own with an address: an output, what was asked, what was changed, and two
// outputs beside each other. Texts are text: nothing in them is mark-up.
import { useEffect, useState } from "preact/hooks";
import { historyOf, type Json, promptsAt } from "../panel/details";
import type { Round, Row } from "../panel/shape";
import type { Engine } from "./engine";
import { lineDiff } from "./lineDiff";
import { addressTo } from "./route";

const READING = "Reading…";

async function rowsOf(engine: Engine, runId: string): Promise<{ rows: Row[]; rounds: Round[] }> {
  const answer = await engine.ask("loopLs.view", { runId, limit: 1000 });
  return answer?.ok ? { rows: answer.rows as Row[], rounds: (answer.rounds ?? []) as Round[] } : { rows: [], rounds: [] };
}

async function textOf(engine: Engine, runId: string, id: string, what: string): Promise<string> {
  const { rows, rounds } = await rowsOf(engine, runId);
  if (what === "diff") return rounds.find((one) => one.row === id)?.diff ?? "No changes to show.";
  const row = rows.find((one) => one.id === id);
  if (!row) return "This place is not (or no longer) in the record.";
  if (what === "prompt") {
    const found = await promptsAt(engine, runId, row);
    return typeof found === "string" ? found : found.map(exchange).join("\n\n");
  }
  const told = await historyOf(engine, runId, row);
  return "problem" in told ? told.problem : String(told.row[what === "question" ? "question" : "output"] ?? "");
}

const exchange = (one: Json): string =>
  [`${String(one.place)}\n\n${String(one.prompt)}`, ...(typeof one.answer === "string" ? [`Answer:\n\n${one.answer}`] : [])].join("\n\n");

function useText(read: () => Promise<string>, key: string): string {
  const [text, setText] = useState(READING);
  useEffect(() => {
    let gone = false;
    setText(READING);
    void read().then((found) => !gone && setText(found));
    return () => {
      gone = true;
    };
  }, [key]);
  return text;
}

function Frame({ runId, title, children }: { runId: string; title: string; children: preact.ComponentChildren }) {
  return (
    <main class="page">
      <p>
        <a href={addressTo(["runs", runId])}>Back to the run</a>
      </p>
      <h2>{title}</h2>
      {children}
    </main>
  );
}

export function WholeText({ engine, id, query }: { engine: Engine; id: string; query: URLSearchParams }) {
  const [row, what] = [query.get("row") ?? "", query.get("what") ?? "output"];
  const text = useText(() => textOf(engine, id, row, what), `${id} ${row} ${what}`);
  return (
    <Frame runId={id} title={`${row.replace(/#loop$/, "")}: ${what}`}>
      <Copy text={text} />
      <pre class="whole" tabIndex={0}>
        {text}
      </pre>
    </Frame>
  );
}

export function Changes({ engine, id }: { engine: Engine; id: string }) {
  const text = useText(async () => {
    const answer = await engine.ask("loopLs.changes", { runId: id });
    return answer?.ok ? `${String(answer.diff)}${answer.cut === true ? "\n… the diff goes on" : ""}` : String(answer?.message ?? "");
  }, id);
  return (
    <Frame runId={id} title="Changes">
      <pre class="whole" tabIndex={0}>
        {text}
      </pre>
    </Frame>
  );
}

/** Two outputs of a run. */
export function Outputs({ engine, id, query }: { engine: Engine; id: string; query: URLSearchParams }) {
  const [left, right] = [query.get("left") ?? "", query.get("right") ?? ""];
  const one = useText(() => textOf(engine, id, left, "output"), `${id} ${left}`);
  const other = useText(() => textOf(engine, id, right, "output"), `${id} ${right}`);
  return (
    <Frame runId={id} title={`${left} and ${right}`}>
      <Difference left={one} right={other} />
    </Frame>
  );
}

export function Difference({ left, right }: { left: string; right: string }) {
  const lines = lineDiff(left, right);
  if (lines === undefined) {
    return (
      <div class="beside">
        <pre class="whole">{left}</pre>
        <pre class="whole">{right}</pre>
      </div>
    );
  }
  return (
    <div class="diff" tabIndex={0} role="group" aria-label="Difference between the two texts">
      {lines.map(({ side, text }, at) => (
        <span key={at} class={side === "left" ? "old" : side === "right" ? "new" : ""}>
          {side === "left" ? "- " : side === "right" ? "+ " : "  "}
          {text}
        </span>
      ))}
    </div>
  );
}

/** Says that it copied only where that is true. */
function Copy({ text }: { text: string }) {
  const [said, setSaid] = useState("");
  const copy = async (): Promise<void> => {
    const done = await Promise.resolve(navigator.clipboard?.writeText(text)).then(
      () => navigator.clipboard !== undefined,
      () => false,
    );
    setSaid(done ? "Copied." : "The browser does not allow copying here; select the text and copy it.");
  };
  return (
    <p>
      <button type="button" class="plain" onClick={() => void copy()}>
        Copy
      </button>{" "}
      <span role="status">{said}</span>
    </p>
  );
}
