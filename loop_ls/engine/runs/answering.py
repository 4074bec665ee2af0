"""One answer to whatever a run waits for: found by what it waits for, and given as the operation of that kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, Protocol, assert_never, cast

from loop_ls.contract.answers import Answered, Approved, Controlled, Done, Noted, Refusal, Waiting
from loop_ls.contract.questions import only_people, told_by
from loop_ls.engine.core.errors import Refused
from loop_ls.engine.enhance.speaker import Speaker
from loop_ls.engine.events import RunState
from loop_ls.engine.runs.answerer import speaker
from loop_ls.engine.runs.approvals import first_answer
from loop_ls.engine.runs.inbox import waiting
from loop_ls.text.json_value import Json, JsonObject, text_field


class Operations(Protocol):
    """What an engine does with each kind of answer."""

    async def approve(
        self,
        run_id: str,
        loop_id: str | None = None,
        approved: Json = None,
        decision: Json = None,
        feedback: Json = None,
    ) -> Approved | Refusal: ...

    async def control(self, verb: str, run_id: str, **details: Json) -> Controlled | Refusal: ...

    async def enhance(
        self, verb: str, run_id: str, given: JsonObject | None = None, speaker: Speaker | None = None
    ) -> Done | Refusal: ...

    async def note(self, run_id: str, text: Json) -> Noted | Refusal: ...


async def answered(engine: Operations, state: RunState, given: Mapping[str, Json]) -> Answered | Refusal:
    """`given`: `{answer, text?, question?, agent?}`. Raises `Refused` for what the run does not wait for, or does not
    take as an answer, or not from an agent."""
    answer, text, question = (text_field(given, name).strip() for name in ("answer", "text", "question"))
    meant = chosen(state, answer, question)
    if given.get("agent") is True and meant["forPeople"]:
        raise Refused("forbidden", only_people(meant))
    refusal = await _given(engine, state.run_id, meant, answer, text)
    return refusal or {"ok": True, "runId": state.run_id, "kind": meant["kind"], "answer": answer}


def chosen(state: RunState, answer: str, question: str) -> Waiting:
    """What is answered. Raises `Refused`."""
    found = [one for one in waiting(state) if not question or one.get("id") == question]
    if not found:
        raise _too_late(state, question)
    fitting = [one for one in found if answer in _answers(one)]
    if not fitting:
        listed = ", ".join(f"`{one}`" for one in dict.fromkeys(each for one in found for each in _answers(one)))
        told = f"`{answer}` is not an answer that `{state.name}` waits for; expected one of {listed}."
        first = f" {told_by(state.answers[-1])}" if state.answers else ""
        raise Refused("bad_argument", f"{told}{first}")
    named = {one.get("id") for one in fitting if one.get("id")}
    if len(named) > 1:
        listed = ", ".join(f"`{one}`" for one in named)
        told = f"Run {state.run_id} waits for several answers: {listed}."
        raise Refused("bad_argument", told, "Choose one with `question`.")
    return fitting[0]


def _answers(one: Waiting) -> Sequence[str]:
    return [each["answer"] for each in one["answers"]]


def _too_late(state: RunState, question: str) -> Refused:
    told = f"Run {state.run_id} is not waiting for an answer: it is {state.status}."
    if question and not state.ended:
        told = f"Run {state.run_id} does not wait for an answer to `{question}`: it is {state.status}."
    first = first_answer(state, question)
    return Refused("wrong_status", f"{told} {told_by(first)}" if first else told, "" if first else "See the inbox.")


async def _given(engine: Operations, run_id: str, meant: Waiting, answer: str, text: str) -> Refusal | None:
    match meant["kind"]:
        case "approval" | "protected" | "blocked":
            loop_id = meant.get("id") or None
            done: Done | Refusal = await engine.approve(run_id, loop_id, answer == "approve", answer, text or None)
            return None if done["ok"] else done
        case "question" if answer != "stop":
            return await _next_round(engine, run_id, answer, text)
        case "question" | "quota" | "pause" | "interrupted":
            return await _going(engine, run_id, cast("Literal['resume', 'stop']", answer), text)
        case never:
            assert_never(never)


async def _next_round(engine: Operations, run_id: str, answer: str, text: str) -> Refusal | None:
    """A text is feedback, which the plan of the next round hears."""
    if text and not (said := await engine.enhance("feedback", run_id, {"text": text}, speaker()))["ok"]:
        return said
    done = await engine.enhance("choose", run_id, {"choice": answer}, speaker())
    return None if done["ok"] else done


async def _going(engine: Operations, run_id: str, verb: Literal["resume", "stop"], text: str) -> Refusal | None:
    """A text is a note for the next prompt. Whoever comes second is told so, though there was nothing to do."""
    if text and verb == "resume" and not (said := await engine.note(run_id, text))["ok"]:
        return said
    done = await engine.control(verb, run_id)
    if not done["ok"]:
        return done
    late = done["runs"][0].get("told")
    return Refused("wrong_status", f"Run {run_id} is {done['runs'][0]['status']}. {late}").answer() if late else None
