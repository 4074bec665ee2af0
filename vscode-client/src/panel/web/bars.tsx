// What asks for a person: an approval, the pause between rounds, a change that is not in the file; and what keeps
// the panel from being up to date. Each says in one sentence what it is and offers the way out.
import { useState } from "preact/hooks";
import { ANSWERS, BLOCKED_ANSWERS, PROTECTED_ANSWERS } from "../../contract/endings";
import type { Approval, Banner, Head } from "../shape";
import { Icon } from "./icons";
import { act } from "./talk";

export function Bars({ head, banner, onShow }: { head: Head | undefined; banner: Banner | undefined; onShow: () => void }) {
  return (
    <div class="bars">
      {banner ? <Notice banner={banner} /> : null}
      {head?.error && head.ended ? (
        <div class="bar bad" role="alert">
          <Icon name="cross" tone="bad" />
          <span>
            {head.error.message} {head.error.hint}
          </span>
        </div>
      ) : null}
      {head?.because ? (
        <div class="bar">
          <Icon name="dash" />
          <span>{head.because}</span>
        </div>
      ) : null}
      {head?.recovered ? (
        <div class="bar">
          <Icon name="warning" />
          <span>{head.recovered}</span>
        </div>
      ) : null}
      {head?.approvals.map((one) => (
        <ApprovalBar key={one.place || one.loopId} asked={one} />
      ))}
      {head?.changes ? <ChangesBar line={head.changes} /> : null}
      {head?.choice ? <ChoiceBar choice={head.choice} onShow={onShow} /> : null}
    </div>
  );
}

function Notice({ banner }: { banner: Banner }) {
  const { action } = banner;
  return (
    <div class={`bar ${banner.tone}`} role={banner.tone === "bad" ? "alert" : "status"}>
      <Icon name={banner.tone === "bad" ? "warning" : "ring"} />
      <span>{banner.text}</span>
      {action ? (
        <button type="button" class="plain" onClick={() => act(action.act)}>
          {action.title}
        </button>
      ) : null}
    </div>
  );
}

function ApprovalBar({ asked }: { asked: Approval }) {
  const [feedback, setFeedback] = useState("");
  const { loopId } = asked;
  const answers = asked.touched ? PROTECTED_ANSWERS : ANSWERS;
  const approve = { verb: "approve", loopId, approved: true } as const;
  const retry = { verb: "approve", loopId, approved: false, decision: "retry" } as const;
  const said = feedback.trim();
  const more = said ? { feedback: said } : {};
  return (
    <section class="bar ask" aria-label="Approval">
      <div class="question">
        <Icon name="person" />
        <span>
          {asked.touched ? "Protected files were touched: checks do not count until you decide. " : ""}
          {asked.blocked ? "The run is blocked: it cannot continue without your answer." : waitsOn(asked)}
        </span>
      </div>
      {asked.output ? <pre class="taste">{asked.output}</pre> : null}
      <label class="feedback">
        <span>{asked.blocked ? "Answer" : "Feedback"}</span>
        <textarea
          rows={2}
          value={feedback}
          placeholder={asked.blocked ? "What it asked for (optional)" : "What should be different? (optional)"}
          onInput={(event) => setFeedback(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === "Escape") event.currentTarget.blur();
          }}
        />
      </label>
      <div class="answers">
        <button type="button" class="main" onClick={() => act({ ...(asked.blocked ? retry : approve), ...more })}>
          <Icon name={asked.blocked ? "replay" : "check"} />
          {asked.blocked ? BLOCKED_ANSWERS.retry : answers.approve}
        </button>
        <button type="button" class="plain" onClick={() => act({ verb: "approve", loopId, approved: false, ...more })}>
          <Icon name="cross" />
          {asked.blocked ? BLOCKED_ANSWERS.reject : answers.reject}
        </button>
        {asked.touched ? (
          <button
            type="button"
            class="plain"
            title="Restore these files to their state before the turn, and continue"
            onClick={() => act({ verb: "approve", loopId, approved: false, decision: "restore" })}
          >
            <Icon name="replay" />
            {PROTECTED_ANSWERS.restore}
          </button>
        ) : null}
        {asked.revise ? (
          <button
            type="button"
            class="plain"
            disabled={!said}
            title="Continue with another iteration that gets your feedback"
            onClick={() => act({ verb: "approve", loopId, approved: false, decision: "revise", feedback: said })}
          >
            <Icon name="replay" />
            {ANSWERS.revise}
          </button>
        ) : null}
      </div>
    </section>
  );
}

const waitsOn = (asked: Approval): string =>
  asked.iteration ? `Iteration ${asked.iteration} waits for your approval.` : "The run waits for your approval.";

/** What becomes of the changes of a run that worked in a worktree of its own. */
function ChangesBar({ line }: { line: string }) {
  return (
    <section class="bar ask" aria-label="Changes">
      <div class="question">
        <Icon name="person" />
        <span>{line}.</span>
      </div>
      <div class="answers">
        <button type="button" class="main" title="Change your files; nothing is committed" onClick={() => act({ verb: "decideChanges", decision: "apply" })}>
          Apply
        </button>
        <button type="button" class="plain" title="Keep the branch, remove the worktree" onClick={() => act({ verb: "decideChanges", decision: "keep" })}>
          Keep Branch
        </button>
        <button type="button" class="plain" title="Delete the branch and the worktree" onClick={() => act({ verb: "decideChanges", decision: "discard" })}>
          Discard
        </button>
        <button type="button" class="plain" onClick={() => act({ verb: "showChanges" })}>
          Show Changes
        </button>
      </div>
    </section>
  );
}

function ChoiceBar({ choice, onShow }: { choice: NonNullable<Head["choice"]>; onShow: () => void }) {
  return (
    <section class="bar ask" aria-label="Between rounds">
      <div class="question">
        <Icon name="person" />
        <span>
          {choice.why || `Round ${choice.round} is over; changes are proposed and wait for you.`}
        </span>
      </div>
      <div class="answers">
        {choice.kind === "rejected" ? null : (
          <button type="button" class="main" onClick={() => act({ verb: "continue" })}>
            {choice.kind === "conflict" ? "Try again" : "Continue to next round"}
          </button>
        )}
        <button type="button" class="plain" onClick={onShow}>
          Show changes
        </button>
        <button type="button" class="plain" onClick={() => act({ verb: "skip" })}>
          Run without changes
        </button>
        <button type="button" class="plain" onClick={() => act({ verb: "giveUp" })}>
          Stop
        </button>
      </div>
    </section>
  );
}
