"""What the facts of a round say of each of its elements, folded into one trace for each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, cast

from loop_ls.contract.facts.enhance import UsedIterations
from loop_ls.contract.facts.kinds import (
    Call,
    Iteration,
    IterationFailed,
    IterationStarted,
    Judged,
    StepCompleted,
    StepFailed,
    StepSkipped,
    StepStarted,
    payload,
)
from loop_ls.engine.core.location import Place
from loop_ls.engine.events import Event
from loop_ls.index.document import Document
from loop_ls.text.json_value import Json


@dataclass(frozen=True, slots=True)
class Trace:
    """`ended` "none": it never began, or was still going on. `answered_by`: provider and model of the
    last whole answer of the element itself; `refused_by`: those of its last call that failed, and the code.
    `inner`: the step of a called workflow that failed first. `verdict` and `answer` are the judge's last.
    `turns` are the places of the iterations that succeeded, by number; `lost` are the errors of those that
    failed and did not succeed on a later try. `items`: how many a loop goes over. `duration` in
    seconds."""

    ended: Literal["none", "completed", "failed", "skipped"] = "none"
    output: str = ""
    attempts: int = 1
    error: Mapping[str, Json] | None = None
    reason: str | None = None
    condition: str = ""
    inner: str | None = None
    answered_by: tuple[str, str] | None = None
    refused_by: tuple[str, str, str] | None = None
    iterations: UsedIterations | None = None
    verdict: str | None = None
    answer: str = ""
    turns: Mapping[int, str] = field(default_factory=dict)
    lost: Mapping[int, Mapping[str, Json]] = field(default_factory=dict)
    items: int | None = None
    usd: float = 0.0
    began: float | None = None
    duration: float = 0.0


def traces(place: str, events: Iterable[Event], document: Document) -> dict[str, Trace]:
    """By the name of the element; every element of the document has one."""
    base = Place(place)
    by_key = {base.element(element.name).key: element.name for element in document.elements}
    found = {element.name: Trace() for element in document.elements}
    for event in events:
        name, depth = _element_of(str(event.body.get("place", "")), place, by_key)
        if name is not None:
            trace = found[name]
            found[name] = _inside(trace, event, depth) if depth else _own(trace, event)
    return found


def _element_of(key: str, place: str, by_key: dict[str, str]) -> tuple[str | None, int]:
    """The element that a place belongs to, and how deep inside of it the place lies: 1 is an iteration of
    its own loop."""
    if not key.startswith(place + "/"):
        return None, 0
    head = key[len(place) + 1 :]
    own = head.partition("/")[0].partition(":")[0]
    return by_key.get(f"{place}/{own}"), head.count("/")


def _own(trace: Trace, event: Event) -> Trace:
    match payload(event.kind, event.body):
        case StepStarted() as fact:
            began = trace.began if trace.began is not None else event.at
            loop: UsedIterations | None = {"used": 0, "max": fact.max_iterations, "exit_reason": None}
            loop = loop if fact.mode == "loop" else None
            fresh = replace(trace, began=began, attempts=fact.attempt, ended="none", error=None)
            return replace(fresh, iterations=loop, turns={}, lost={})
        case StepCompleted() as fact:
            loop = _loop_ended(trace.iterations, fact.total_iterations or 0, fact.reason)
            done = replace(trace, ended="completed", output=fact.output, reason=fact.reason, iterations=loop)
            return _timed(done, event.at)
        case StepFailed() as fact:
            loop = trace.iterations and _loop_ended(
                trace.iterations, fact.total_iterations or trace.iterations["used"], "error"
            )
            done = replace(
                trace, ended="failed", error=cast("dict[str, Json]", fact.error), reason=fact.reason, iterations=loop
            )
            return _timed(done, event.at)
        case StepSkipped() as fact:
            return replace(trace, ended="skipped", condition=fact.condition)
        case _:
            return _inside(trace, event, 0)


def _inside(trace: Trace, event: Event, depth: int) -> Trace:
    """Something in a called workflow, in an iteration, or a call of the element."""
    match payload(event.kind, event.body):
        case Call() as call:
            usd = trace.usd + (call.usd or 0.0)
            if call.error is not None:
                return replace(trace, usd=usd, refused_by=(call.provider, call.model, call.error["code"]))
            if depth or call.purpose != "step":
                return replace(trace, usd=usd)
            return replace(trace, usd=usd, answered_by=(call.provider, call.model))
        case Judged() as judged if depth == 1:
            return replace(trace, verdict=judged.verdict, answer=judged.answer)
        case Iteration() as fact if depth == 1:
            loop = trace.iterations
            if loop is not None:
                loop = {**loop, "used": max(loop["used"], fact.iteration)}
            turns = {**trace.turns, fact.iteration: str(event.body.get("place", ""))}
            lost = {number: error for number, error in trace.lost.items() if number != fact.iteration}
            return replace(trace, output=fact.output or trace.output, iterations=loop, turns=turns, lost=lost)
        case IterationStarted() as fact if depth == 1:
            return replace(trace, items=fact.max_iterations)
        case IterationFailed() as fact if depth == 1:
            return replace(trace, lost={**trace.lost, fact.iteration: cast("dict[str, Json]", fact.error)})
        case StepFailed() as fact if trace.inner is None:
            return replace(trace, inner=fact.step or None)
        case StepCompleted() as fact if trace.inner == fact.step:
            return replace(trace, inner=None)
        case _:
            return trace


def _loop_ended(loop: UsedIterations | None, used: int, reason: str | None) -> UsedIterations | None:
    return loop and {**loop, "used": used, "exit_reason": reason}


def _timed(trace: Trace, ended: float) -> Trace:
    return replace(trace, duration=0.0 if trace.began is None else max(0.0, ended - trace.began))
