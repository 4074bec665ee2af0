"""What editors and people tell a running enhance loop: an edit arrived or not, go on, skip, stop; feedback.

Journalled under the key of the question, so of several answers the first one counts, whoever gives it.
An answer for another plan is ignored.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from loop_ls.contract.answers import Acknowledged, Chosen, Done, Node
from loop_ls.contract.facts.enhance import EditAcknowledged, EditRefused, Feedback, LoopContinued
from loop_ls.contract.facts.kinds import Resumed
from loop_ls.contract.facts.payload import Fact
from loop_ls.contract.questions import between_rounds
from loop_ls.contract.run_state import Question
from loop_ls.contract.run_view.rounds import REJECTED
from loop_ls.engine.core.errors import Refused
from loop_ls.engine.core.ports import Recorded
from loop_ls.engine.events import RunState
from loop_ls.engine.journal import Journal
from loop_ls.engine.journal.serialization import plain_text
from loop_ls.engine.projections.run_graph import drawn
from loop_ls.engine.runs.answerer import said_by
from loop_ls.formats.common.did_you_mean import nearest
from loop_ls.text.hash import text_hash
from loop_ls.text.json_value import Json

if TYPE_CHECKING:
    from loop_ls.engine.runs.registry import LiveRun

OUTCOMES = frozenset({"applied", "refused", "stale", "no_change_seen", "client_gone"})
CHOICES = frozenset({"continue", "skip", "stop"})


async def acknowledge(run: LiveRun, journal: Journal, given: Mapping[str, Json], by: str | None = None) -> Acknowledged:
    """What became of an edit: `{planId, outcome, text?, failureReason?}` -> `{ok, planId}`. Raises `Refused`."""
    question = _question(run.state, "edit_sent")
    if given.get("planId") != question.get("planId"):
        raise Refused("wrong_status", f"Run {run.run_id} is waiting for a different edit than `{given.get('planId')}`.")
    outcome = given.get("outcome")
    if outcome not in OUTCOMES:
        listed = ", ".join(f"`{one}`" for one in sorted(OUTCOMES))
        raise Refused("bad_argument", f"`outcome` must be one of {listed}.")
    text = given.get("text")
    answer = {"outcome": str(outcome), "failureReason": str(given.get("failureReason") or "")}
    if isinstance(text, str):
        answer["text"] = plain_text(text)
    told: dict[str, object] = {**question, "answer": answer, "by": by}
    if outcome == "applied" and isinstance(text, str):
        told["textSha256"] = text_hash(answer["text"])
        fact = EditAcknowledged.model_validate(told).fact()
    else:
        told |= {"outcome": outcome, "failureReason": answer["failureReason"]}
        fact = EditRefused.model_validate(told).fact()
    await _answered(run, journal, question, fact)
    return {"ok": True, "planId": question.get("planId")}


async def choose(run: LiveRun, journal: Journal, given: Mapping[str, Json], by: str | None = None) -> Chosen:
    """How a loop that waits goes on: `{choice, text?}`; `text` is what the document holds in its editor,
    and says nothing of a loop that works on a file -> `{ok, choice}`. Raises `Refused`."""
    choice, text = given.get("choice"), given.get("text")
    if choice not in CHOICES:
        raise Refused("bad_argument", "`choice` must be one of `continue`, `skip` and `stop`.")
    question = _question(run.state, "loop_paused")
    answer = {"choice": choice}
    if isinstance(text, str):
        answer["text"] = plain_text(text)
    who = said_by()
    told = {"by": by, "via": who.get("via"), "user": who.get("by")}
    continued = {**question, "answer": answer, "withEdits": choice == "continue", **told}
    fact = LoopContinued.model_validate(continued).fact()
    await _answered(run, journal, question, fact, with_change=choice == "continue")
    return {"ok": True, "choice": choice}


async def feedback(run: LiveRun, journal: Journal, given: Mapping[str, Json], by: str | None = None) -> Done:
    """What a person says of a round or of one step of it: `{text, step?, negative?}` -> `{ok}`.
    Raises `Refused`."""
    text, step = given.get("text"), given.get("step")
    if not isinstance(text, str) or not text.strip():
        raise Refused("bad_argument", "Missing `text`: your feedback on the round.")
    if step is not None and not isinstance(step, str):
        raise Refused("bad_argument", "`step` must be the name of a step.")
    if step:
        _known_step(step, [*_names(await drawn(journal, run.run_id))])
    said = Feedback(text=plain_text(text), negative=given.get("negative") is True, step=step or None)
    async with run.asked:
        await journal.append(run.run_id, facts=[said.fact()], ongoing=True)
        if run.state.ended:
            raise Refused("wrong_status", f"Run {run.run_id} has just ended.")
    return {"ok": True}


def _known_step(step: str, names: Sequence[str]) -> None:
    """Whether the round has it: feedback that is about nothing would change nothing. Raises `Refused`."""
    if not names or step in names:  # a text without a graph ends the round before any step
        return
    near = nearest(step, names)
    guess = f"; did you mean `{near}`?" if near else "."
    raise Refused("bad_argument", f"The workflow has no step or loop `{step}`{guess}")


def _names(nodes: Sequence[Node], above: str = "") -> Iterator[str]:
    """Of all steps and loops; those of called workflows behind their caller (`develop/review`)."""
    for node in nodes:
        name = f"{above}{node['name']}"
        yield name
        yield from _names(node.get("inner") or [], f"{name}/")


def _question(state: RunState, kind: str) -> Question:
    question = state.question
    if question is None or question.get("kind") != kind:
        told = "does not wait for an edit" if kind == "edit_sent" else "does not wait between rounds"
        raise Refused("wrong_status", f"Run {state.run_id} is {state.status} and {told}.")
    return question


async def _answered(run: LiveRun, journal: Journal, question: Question, fact: Fact, with_change: bool = False) -> None:
    async with run.asked:
        if with_change and run.state.proposal == "rejected":
            raise Refused("forbidden", REJECTED, between_rounds(run.run_id[:8], rejected=True))
        kind, body = fact
        facts = [(kind, {"place": question["place"], **body} if "place" in question else body)]
        waits = kind == "loop_continued" and run.state.status == "interrupted"
        if waits:  # since an engine ended under it: whoever answers wants it to go on
            facts.insert(0, Resumed(**said_by()).fact())
        answer: Recorded = {"value": body["answer"]}
        done = await journal.append(run.run_id, str(question["question"]), facts, answer, ongoing=True)
        if not done:
            raise Refused("wrong_status", f"Run {run.run_id} is no longer waiting for this.")
        if waits:
            run.control.resume()


TELL = {"acknowledge": acknowledge, "choose": choose, "feedback": feedback}
