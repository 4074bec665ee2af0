// One round of an enhance loop: what failed, what was proposed and why, what was refused, what is in the file now.
import type { Change, Head, Round } from "../shape";
import { Icon } from "./icons";
import { act } from "./talk";
import { money } from "../../runs/amounts";
import { failureWords } from "./words";

export function RoundView({ round, head }: { round: Round; head: Head }) {
  return (
    <div class="round">
      <p class="burn">
        <b>
          Round {round.number}
          {head.max ? ` of ${head.max}` : ""}
        </b>
        {round.cost ? ` · this round ${round.cost}` : ""}
        {round.cumulativeCost ? ` · so far ${round.cumulativeCost}` : ""}
        {head.caps.usd ? ` of ${money(head.caps.usd)}` : ""}
        {round.doing ? <span class="doing"> · {round.doing}</span> : null}
      </p>
      {round.fixation ? <p class="warning">This round failed in the same way as the previous round.</p> : null}
      {round.trials ? <Trials round={round} /> : null}
      <section>
        <h3>What failed</h3>
        {round.failed.length ? (
          <ul class="plainlist">
            {round.failed.map((one, index) => (
              <li key={index}>
                <Icon name="cross" tone="bad" />
                <span>
                  <b>{one.step}</b> {failureWords(one.kind)}: {one.message}
                </span>
              </li>
            ))}
          </ul>
        ) : (
          <p class="muted">{nothingFailed(round)}</p>
        )}
      </section>
      {round.feedback?.length ? <Feedback said={round.feedback} /> : null}
      {round.status === "failed" ? <Plan round={round} /> : null}
    </div>
  );
}

function nothingFailed(round: Round): string {
  if (round.unfinished) return "Unknown: the round did not finish.";
  return round.reported ? "Nothing: the loop has converged." : "Unknown until the round has ended.";
}

/** What people said of it, while it ran or in its pause. */
function Feedback({ said }: { said: NonNullable<Round["feedback"]> }) {
  return (
    <section>
      <h3>Said by a person</h3>
      <ul class="plainlist">
        {said.map((one, index) => (
          <li key={index}>
            <Icon name={one.negative ? "cross" : "person"} tone={one.negative ? "bad" : "still"} />
            <span>
              <b>
                {one.negative ? "rejected" : "feedback on"} {one.step ?? "the round"}
              </b>
              : {one.text}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** What its text came to where it was tried on cases: all of it in a line, then how often each case passed. */
function Trials({ round }: { round: Round }) {
  return (
    <section>
      <h3>Trials</h3>
      <p>{round.trials}</p>
      {round.notTaken ? <p class="warning">Not applied: {round.notTaken}</p> : null}
      <ul class="plainlist">
        {(round.cases ?? []).map((one) => (
          <li key={one.case}>
            <Icon name={one.passes === one.trials ? "check" : "cross"} tone={one.passes === one.trials ? "good" : "bad"} />
            <span>
              <b>{one.case}</b> {one.passes} of {one.trials}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Plan({ round }: { round: Round }) {
  const nothing = round.planProblem || (round.planned ? "Nothing." : "Not planned (last round).");
  return (
    <>
      <section>
        <h3>Proposed</h3>
        {round.proposed.length ? <Changes changes={round.proposed} /> : <p class="muted">{round.doing?.startsWith("planning") ? "Being planned…" : nothing}</p>}
      </section>
      {round.rationale ? (
        <section>
          <h3>Why</h3>
          <p class="rationale">{round.rationale}</p>
        </section>
      ) : null}
      {round.rejected.length ? (
        <section>
          <h3>Rejected</h3>
          <Changes changes={round.rejected} bad />
        </section>
      ) : null}
      {round.proposed.length ? (
        <section>
          <h3>Applied</h3>
          {round.applied.length ? (
            <Changes changes={round.applied} good />
          ) : (
            <p class="muted">{round.refused ? `Nothing: ${round.refused}` : round.doing ? "Not yet." : "Nothing."}</p>
          )}
        </section>
      ) : null}
      {round.diff ? (
        <section id="changes">
          <div class="panehead">
            <h3>Changes to the file</h3>
            <button type="button" class="link" onClick={() => act({ verb: "show", row: round.row, what: "diff" })}>
              Open in editor
            </button>
          </div>
          <Diff text={round.diff} />
        </section>
      ) : null}
    </>
  );
}

function Changes({ changes, bad, good }: { changes: readonly Change[]; bad?: boolean; good?: boolean }) {
  return (
    <ul class="plainlist">
      {changes.map((one, index) => (
        <li key={index}>
          <Icon name={bad ? "dash" : good ? "check" : "dot"} tone={bad ? "bad" : good ? "good" : "still"} />
          <span>
            <b>{one.op.replaceAll("_", " ")}</b> <code>{one.target}</code>
            {one.reason ? `: ${one.reason}` : ""}
            {one.code ? <span class="muted"> ({one.code.replaceAll("_", " ")})</span> : null}
          </span>
        </li>
      ))}
    </ul>
  );
}

/** A unified diff; the sign at the beginning of a line says what colour does. */
function Diff({ text }: { text: string }) {
  const kind = (line: string): string => {
    if (line.startsWith("+++") || line.startsWith("---")) return "files";
    if (line.startsWith("@@")) return "place";
    return line.startsWith("+") ? "new" : line.startsWith("-") ? "old" : "same";
  };
  return (
    <pre class="diff" aria-label="Changes to the file">
      {text.replace(/\n$/, "").split("\n").map((line, index) => (
        <span key={index} class={kind(line)}>
          {line || " "}
          {"\n"}
        </span>
      ))}
    </pre>
  );
}
