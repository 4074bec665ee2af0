// The panes of the tabs. All texts of models and files are text nodes: nothing of them is ever read as a page.
import { useEffect, useRef, useState } from "preact/hooks";
import type { Detail, Live, Prompt, Row, Text } from "../shape";
import { Skeleton } from "./skeleton";
import { act } from "./talk";
import { size } from "./words";

type Shown = "output" | "question" | "prompt";

const Reading = () => (
  <>
    <p class="unseen" role="status">
      Reading…
    </p>
    <Skeleton lines={4} />
  </>
);
const Problem = ({ text }: { text: string }) => <p class="empty problem">{text}</p>;

/** A text as it is, and of one that was cut how long it is and where all of it can be read. */
function Words({ text, row, what, label }: { text: Text; row: Row; what: Shown; label: string }) {
  return (
    <>
      {text.whole !== undefined ? (
        <p class="cut">
          The first {size(text.text.length)} of {size(text.whole)}.{" "}
          <button type="button" class="link" onClick={() => act({ verb: "show", row: row.id, what })}>
            Show all in editor
          </button>
        </p>
      ) : null}
      <pre class="words" aria-label={label}>
        {text.text}
      </pre>
    </>
  );
}

function LiveText({ live }: { live: Live }) {
  const box = useRef<HTMLPreElement>(null);
  useEffect(() => {
    const element = box.current;
    if (element) element.scrollTop = element.scrollHeight;
  }, [live.text]);
  return (
    <section class="livebox">
      <h3>{live.label} is writing</h3>
      <pre class="words" ref={box} data-live={live.label}>
        {live.text}
        <span class="caret" aria-hidden="true" />
      </pre>
    </section>
  );
}

export function OutputView({ row, detail, live }: { row: Row; detail: Detail | undefined; live: readonly Live[] }) {
  const open = (what: Shown) => () => act({ verb: "show", row: row.id, what });
  const stages = detail?.stages ?? [];
  const last = stages.at(-1);
  const repeated = last !== undefined && last.output.text === detail?.output?.text;
  const others = repeated ? stages.slice(0, -1) : stages;
  return (
    <>
      {row.warnings.map((warning, index) => (
        <p key={index} class="warning">
          {warning}
        </p>
      ))}
      {live.map((one) => (
        <LiveText key={one.place + one.label} live={one} />
      ))}
      {row.note && row.status !== "completed" && row.note !== detail?.error ? <p class="warning">{row.note}</p> : null}
      {!detail ? (
        live.length ? null : <Reading />
      ) : detail.problem ? (
        live.length || row.status === "running" ? null : <Problem text={detail.problem} />
      ) : (
        <>
          {detail.error ? <p class="warning bad">{detail.error}</p> : null}
          {detail.output?.text ? (
            <section>
              <div class="panehead">
                <h3>Output{repeated ? ` of ${last.name}` : ""}</h3>
                <button type="button" class="link" onClick={open("output")}>
                  Open in editor
                </button>
              </div>
              <Words text={detail.output} row={row} what="output" label="Output" />
            </section>
          ) : row.status === "completed" ? (
            <p class="empty">The output is empty.</p>
          ) : null}
          {others.map((stage) => (
            <details key={stage.name} class="stagebox" open={row.status === "running"}>
              <summary>
                {stage.name}
                {stage.status === "completed" ? "" : ` (${stage.status})`}
              </summary>
              <pre class="words" aria-label={`Output of ${stage.name}`}>
                {stage.output.text}
              </pre>
            </details>
          ))}
          {!detail.output?.text && others.length === 0 && row.status === "running" && live.length === 0 ? (
            <p class="empty">Nothing is written yet.</p>
          ) : null}
        </>
      )}
    </>
  );
}

export function QuestionView({ row, detail }: { row: Row; detail: Detail | undefined }) {
  if (!detail) return <Reading />;
  if (detail.problem) return <Problem text={detail.problem} />;
  const asked = detail.question;
  if (!asked?.verdict) return <p class="empty">{row.status === "running" ? "Nothing was judged yet." : "Nothing was judged here."}</p>;
  return (
    <>
      {asked.question ? (
        <section>
          <h3>Question</h3>
          <Words text={asked.question} row={row} what="question" label="Question to the judge" />
        </section>
      ) : (
        <section>
          <h3>Condition{asked.local ? ", decided without a model" : ""}</h3>
          <pre class="words">{asked.condition || "none"}</pre>
        </section>
      )}
      <section>
        <h3>Answer</h3>
        <pre class="words answer">{asked.answer || asked.verdict.toUpperCase()}</pre>
      </section>
      {row.findings ? (
        <section>
          <h3>Findings</h3>
          <pre class="words">{row.findings.join("\n")}</pre>
        </section>
      ) : null}
    </>
  );
}

export function PromptView({ row, detail }: { row: Row; detail: Detail | undefined }) {
  if (!detail) return <Reading />;
  if (detail.problem) return <Problem text={detail.problem} />;
  const prompts = detail.prompts ?? [];
  if (prompts.length === 0) return <p class="empty">No model was asked here.</p>;
  return (
    <>
      {prompts.map((one, index) => (
        <Exchange key={`${one.place} ${index}`} one={one} row={row} />
      ))}
    </>
  );
}

/** Whose prompt it is: a step or stage by its name, else what is asked there, such as a judge. */
const askerOf = (place: string): string => place.split("/").at(-1)?.split(":").at(-1) ?? place;

/** A prompt beside its answer. It can be changed there, for a new run that begins with it. */
function Exchange({ one, row }: { one: Prompt; row: Row }) {
  const [draft, setDraft] = useState<string | undefined>();
  const name = askerOf(one.place);
  return (
    <section>
      <div class="panehead">
        <h3>
          {name} <span class="muted">{one.who}</span>
          {one.changed ? <span class="chip">prompt changed</span> : null}
        </h3>
        {one.changeable && draft === undefined ? (
          <button type="button" class="link" title="Edit this prompt, and start a new run from here with it" onClick={() => setDraft(one.prompt.text)}>
            Edit and run from here
          </button>
        ) : null}
      </div>
      {one.system ? <pre class="words muted">{one.system}</pre> : null}
      <div class="exchange">
        <div>
          <h4>Prompt</h4>
          {draft === undefined ? (
            <Words text={one.prompt} row={row} what="prompt" label="Prompt" />
          ) : (
            <EditedPrompt name={name} at={one.place} draft={draft} change={setDraft} />
          )}
        </div>
        <div>
          <h4>Answer</h4>
          {one.answer ? <Words text={one.answer} row={row} what="prompt" label="Answer" /> : <p class="empty">There is no answer yet.</p>}
        </div>
      </div>
    </section>
  );
}

interface Edited {
  name: string;
  at: string;
  draft: string;
  /** Without a text the prompt is shown as it was. */
  change(draft: string | undefined): void;
}

function EditedPrompt({ name, at, draft, change }: Edited) {
  const box = useRef<HTMLTextAreaElement>(null);
  useEffect(() => box.current?.focus(), []);
  const run = () => {
    act({ verb: "ask", at, prompt: draft });
    change(undefined);
  };
  return (
    <div class="edited">
      <textarea
        ref={box}
        aria-label={`New prompt of ${name}`}
        rows={Math.min(24, Math.max(6, draft.split("\n").length + 1))}
        value={draft}
        onInput={(event) => change(event.currentTarget.value)}
      />
      <p class="muted">Starts a new run from “{name}”: what finished before it is reused, and this prompt is sent once.</p>
      <div class="answers">
        <button type="button" class="main" disabled={!draft.trim()} onClick={run}>
          Run from here
        </button>
        <button type="button" class="plain" onClick={() => change(undefined)}>
          Cancel
        </button>
      </div>
    </div>
  );
}

export function EventsView({ detail }: { detail: Detail | undefined }) {
  if (!detail) return <Reading />;
  if (detail.problem) return <Problem text={detail.problem} />;
  const facts = detail.facts ?? [];
  return (
    <table class="facts">
      <caption class="unseen">Facts of this iteration</caption>
      <thead>
        <tr>
          <th scope="col">No.</th>
          <th scope="col">Time</th>
          <th scope="col">What</th>
          <th scope="col">Where and how</th>
        </tr>
      </thead>
      <tbody>
        {facts.map((fact) => (
          <tr key={fact.seq}>
            <td>{fact.seq}</td>
            <td>{new Date(fact.at).toLocaleTimeString("en-GB")}</td>
            <td>{fact.kind.replaceAll("_", " ")}</td>
            <td>
              <span class="muted">{fact.place}</span> {fact.gist}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
