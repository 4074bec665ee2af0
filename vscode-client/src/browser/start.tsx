// Starts what the workspace has by its name. What was typed stays until it is started; the engine checks it as it checks
// every start, and says itself what is missing. What a run may do is agreed to in a terminal or an editor, not here.
import { useEffect, useState } from "preact/hooks";
import type { Definition, DefinitionList } from "../contract/answers";
import { call } from "./api";
import { go, refine } from "./route";

interface Parameter {
  name: string;
  description: string;
  value: string;
  required: boolean;
}

const parametersOf = (definition: Definition): Parameter[] =>
  definition.parameters.map((one) => ({
    name: String(one.name),
    description: typeof one.description === "string" ? one.description : "",
    value: one.default === undefined || one.default === null ? "" : String(one.default),
    required: one.required === true,
  }));

const keyOf = (name: string): string => `loop-ls.draft.${name}`;

function draftOf(name: string): Record<string, string> {
  try {
    return (JSON.parse(sessionStorage.getItem(keyOf(name)) ?? "{}") ?? {}) as Record<string, string>;
  } catch {
    return {};
  }
}

function keepDraft(name: string, draft: Record<string, string> | undefined): void {
  try {
    if (draft) sessionStorage.setItem(keyOf(name), JSON.stringify(draft));
    else sessionStorage.removeItem(keyOf(name));
  } catch {
    // Then it lives as long as the page.
  }
}

export function Start({ query }: { query: URLSearchParams }) {
  const [definitions, setDefinitions] = useState<Definition[] | string>();
  useEffect(() => {
    document.title = "Start a loop";
    void call("definitions").then((answer) =>
      setDefinitions(answer.ok ? (answer as unknown as DefinitionList).definitions : String(answer.message)),
    );
  }, []);
  if (definitions === undefined) return <main class="page loading">Reading what can be started…</main>;
  if (typeof definitions === "string") return <main class="page"><p role="alert">{definitions}</p></main>;
  const wanted = query.get("definition");
  const chosen = definitions.find((one) => one.name === wanted) ?? definitions[0];
  return (
    <main class="page" aria-label="Start a loop">
      <h2>Start a loop</h2>
      {chosen ? (
        <>
          <label class="field">
            <span>Loop</span>
            <select value={chosen.name} onChange={(event) => refine(["start"], { definition: event.currentTarget.value })}>
              {definitions.map((one) => (
                <option key={one.name} value={one.name}>
                  {one.name} ({one.format.replaceAll("_", " ")})
                </option>
              ))}
            </select>
          </label>
          <Form key={chosen.name} definition={chosen} />
        </>
      ) : (
        <p class="empty">The workspace has nothing that can be started by name. Create a file with `loop-ls new`.</p>
      )}
    </main>
  );
}

function Form({ definition }: { definition: Definition }) {
  const { name } = definition;
  const parameters = parametersOf(definition);
  const [draft, setDraft] = useState(() => ({ ...Object.fromEntries(parameters.map((one) => [one.name, one.value])), ...draftOf(name) }));
  const [said, setSaid] = useState("");
  const [busy, setBusy] = useState(false);
  const put = (field: string, value: string): void => {
    const next = { ...draft, [field]: value };
    setDraft(next);
    keepDraft(name, next);
  };
  const start = async (): Promise<void> => {
    setBusy(true);
    const given = parameters.map((one) => [one.name, draft[one.name] ?? ""]).filter(([, value]) => value !== "");
    const goal = draft[""] ?? "";
    const body = { definition: name, detach: true, ...(goal ? { goal } : {}), ...(given.length ? { parameters: Object.fromEntries(given) } : {}) };
    const answer = await call("start", { body });
    setBusy(false);
    if (!answer.ok) return setSaid([answer.message, answer.hint].filter(Boolean).join(" "));
    keepDraft(name, undefined);
    go(["runs", String(answer.runId)]);
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (!busy) void start();
      }}
    >
      {definition.description ? <p>{definition.description}</p> : null}
      {definition.error ? <p role="alert">{definition.error}</p> : null}
      <label class="field">
        <span>Goal or input</span>
        <textarea rows={4} value={draft[""] ?? ""} onInput={(event) => put("", event.currentTarget.value)} />
      </label>
      {parameters.map((one) => (
        <label key={one.name} class="field">
          <span>
            {one.name}
            {one.required ? "" : " (optional)"} {one.description ? <span class="muted">{one.description}</span> : null}
          </span>
          <input value={draft[one.name] ?? ""} required={one.required} onInput={(event) => put(one.name, event.currentTarget.value)} />
        </label>
      ))}
      <p class="muted">The run continues when you close this page.</p>
      {said ? <p role="alert" class="problem">{said}</p> : null}
      <button type="submit" class="main" disabled={busy}>
        Start
      </button>
    </form>
  );
}
