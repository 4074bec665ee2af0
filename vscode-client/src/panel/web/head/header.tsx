// The head of the panel: which run, how it stands, and the buttons that fit how it stands.
import type { Act, Head } from "../../shape";
import { Budget } from "./budget";
import { Icon, type IconName } from "../icons";
import { Ring } from "./ring";
import { rove } from "../roving";
import { act } from "../talk";

interface Button {
  title: string;
  icon: IconName;
  act: Act;
  main?: boolean;
}

function buttonsOf(head: Head, row: string | undefined): Button[] {
  const stop: Button = { title: "Stop", icon: "stop", act: { verb: "stop" } };
  const resume: Button = { title: "Resume", icon: "play", act: { verb: "resume" }, main: true };
  switch (head.status) {
    case "stopping":
      return [];
    case "paused":
      return head.choice ? [] : [resume, stop];
    case "interrupted":
      return [resume, stop];
    case "waiting_approval":
      return [stop];
    case "queued":
    case "running":
      return [{ title: "Pause", icon: "pause", act: { verb: "pause" } }, stop];
    default:
      return [
        ...(row ? [{ title: "Fork", icon: "fork", act: { verb: "fork", row } } as Button] : []),
        { title: "Replay", icon: "replay", act: { verb: "replay" } },
        ...(row && head.restorable ? [{ title: "Restore", icon: "down", act: { verb: "restore", row } } as Button] : []),
      ];
  }
}

const HINTS: Record<string, string> = {
  Fork: "Start a new run from the selected iteration; earlier iterations are not billed again",
  Restore: "Restore the branch of the run to its state after the selected iteration",
  Replay: "Apply the recorded answers to the current file, without calling a model",
};

export function Header({ head, elapsedMs, row }: { head: Head; elapsedMs: number; row: string | undefined }) {
  const buttons = buttonsOf(head, row);
  return (
    <header class="head">
      <Ring head={head} />
      <div class="title">
        <h1>{head.name}</h1>
        <div class="under">
          {head.file ? (
            <button type="button" class="link" title="Open the file of this run" onClick={() => act({ verb: "openFile" })}>
              {head.file}
            </button>
          ) : null}
          <span class={`status tone-${head.tone}`} data-status={head.status}>
            <span class="light" aria-hidden="true" />
            {head.sentence}
          </span>
          {head.label ? <span class="chip warn">{head.label}</span> : null}
          {head.source ? <span class="chip">{head.source}</span> : null}
        </div>
      </div>
      <div class="actions" role="toolbar" aria-label="Control of the run" onKeyDown={(event) => rove(event, "button")}>
        {buttons.map((button, index) => (
          <button
            key={button.title}
            type="button"
            class={button.main ? "main" : "plain"}
            title={HINTS[button.title] ?? button.title}
            tabIndex={index === 0 ? 0 : -1}
            onClick={() => act(button.act)}
          >
            <Icon name={button.icon} />
            <span class="said">{button.title}</span>
          </button>
        ))}
      </div>
      <Budget head={head} elapsedMs={elapsedMs} />
    </header>
  );
}
