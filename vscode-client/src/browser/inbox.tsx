// What waits for a person, with its answers. An answer names its question, so that a late one never answers another.
import { useEffect, useState } from "preact/hooks";
import type { AnswerOption, Inbox, Waiting } from "../contract/answers";
import type { Engine } from "./engine";
import { addressTo } from "./route";

/** All that waits, read again after each change of a run; undefined until it is known. */
export function useInbox(engine: Engine): Waiting[] | undefined {
  const [waiting, setWaiting] = useState<Waiting[]>();
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let gone = false;
    const read = async (): Promise<void> => {
      const answer = await engine.ask("loopLs.inbox", {});
      if (!gone && answer?.ok) setWaiting((answer as unknown as Inbox).waiting);
    };
    const soon = (): void => {
      clearTimeout(timer);
      timer = setTimeout(() => void read(), 150);
    };
    void read();
    const parts = [engine.runs.onDidChange(({ state, before }) => state.status !== before?.status && soon()), engine.runs.onDidRemove(soon), engine.onLinked((up) => up && soon())];
    return () => {
      gone = true;
      clearTimeout(timer);
      for (const part of parts) part.dispose();
    };
  }, [engine]);
  return waiting;
}

export function Question({ engine, asked }: { engine: Engine; asked: Waiting }) {
  const [text, setText] = useState("");
  const [busy, setBusy] = useState(false);
  const takesText = asked.answers.some((one) => one.text);
  const give = async ({ answer, text: takes }: AnswerOption): Promise<void> => {
    setBusy(true);
    const said = text.trim();
    const more = { ...(takes && said ? { text: said } : {}), ...(asked.id ? { question: asked.id } : {}) };
    await engine.run("loopLs.answer", { runId: asked.runId, answer, ...more });
    setBusy(false);
  };
  return (
    <li class="asked">
      <p>
        <a href={addressTo(["runs", asked.runId])}>{asked.name}</a>: {asked.text.replaceAll("`", "")}
      </p>
      {asked.context ? <pre class="taste">{asked.context}</pre> : null}
      {takesText ? (
        <label class="feedback">
          <span>Text (optional)</span>
          <textarea rows={2} value={text} onInput={(event) => setText(event.currentTarget.value)} />
        </label>
      ) : null}
      <div class="answers">
        {asked.answers.map((option, at) => (
          <button
            key={option.answer}
            type="button"
            class={at === 0 ? "main" : "plain"}
            disabled={busy || (option.answer === "revise" && !text.trim())}
            onClick={() => void give(option)}
          >
            {option.title}
          </button>
        ))}
      </div>
    </li>
  );
}
