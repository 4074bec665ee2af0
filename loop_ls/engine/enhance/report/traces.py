"""What the facts of a round say of each of its elements, folded into one trace for each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal

from loop_ls.engine.core.location import Place
from loop_ls.engine.events import Event
from loop_ls.index.document import Document

Json = Any


@dataclass(frozen=True, slots=True)
class Trace:
    """`ended` "none": it never began, or was still going on. `answered_by`: provider and model of the
    last whole answer of the element itself; `refused_by`: those of its last call that failed, and the code.
    `inner`: the step of a called workflow that failed first. `verdict` and `answer` are the judge's last.
    `duration` in seconds."""

    ended: Literal["none", "completed", "failed", "skipped"] = "none"
    output: str = ""
    attempts: int = 1
    error: Json = None
    reason: str | None = None
    condition: str = ""
    inner: str | None = None
    answered_by: tuple[str, str] | None = None
    refused_by: tuple[str, str, str] | None = None
    iterations: Json = None
    verdict: str | None = None
    answer: str = ""
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
    body = event.body
    match event.kind:
        case "step_started":
            began = trace.began if trace.began is not None else event.at
            loop = (
                {"used": 0, "max": body.get("maxIterations"), "exit_reason": None}
                if body.get("mode") == "loop"
                else None
            )
            return replace(
                trace, began=began, attempts=int(body.get("attempt", 1)), ended="none", error=None, iterations=loop
            )
        case "step_completed":
            loop = trace.iterations
            if loop is not None:
                loop = {**loop, "used": body.get("totalIterations", 0), "exit_reason": body.get("reason")}
            return _done(
                trace,
                event,
                "completed",
                output=str(body.get("output", "")),
                reason=body.get("reason"),
                iterations=loop,
            )
        case "step_failed":
            loop = trace.iterations
            if loop is not None:
                loop = {**loop, "used": body.get("totalIterations", 0) or loop["used"], "exit_reason": "error"}
            return _done(trace, event, "failed", error=body.get("error"), reason=body.get("reason"), iterations=loop)
        case "step_skipped":
            return replace(trace, ended="skipped", condition=str(body.get("condition", "")))
        case _:
            return _inside(trace, event, 0)


def _inside(trace: Trace, event: Event, depth: int) -> Trace:
    """Something in a called workflow, in an iteration, or a call of the element."""
    body = event.body
    match event.kind:
        case "call":
            usd = trace.usd + float(body.get("usd") or 0.0)
            if "error" in body:
                code = str((body["error"] or {}).get("code", ""))
                return replace(trace, usd=usd, refused_by=(body["provider"], body["model"], code))
            if depth or body.get("purpose") not in (None, "step"):
                return replace(trace, usd=usd)
            return replace(trace, usd=usd, answered_by=(body["provider"], body["model"]))
        case "judged" if depth == 1:
            return replace(trace, verdict=body.get("verdict"), answer=str(body.get("answer", "")))
        case "iteration" if depth == 1:
            loop = trace.iterations
            used = None if loop is None else {**loop, "used": max(loop["used"], int(body.get("iteration", 0)))}
            return replace(trace, output=str(body.get("output", "")) or trace.output, iterations=used or loop)
        case "step_failed" if trace.inner is None:
            return replace(trace, inner=str(body.get("step", "")) or None)
        case "step_completed" if trace.inner == body.get("step"):
            return replace(trace, inner=None)
        case _:
            return trace


def _done(trace: Trace, event: Event, ended: Literal["completed", "failed"], **more: Json) -> Trace:
    duration = 0.0 if trace.began is None else max(0.0, event.at - trace.began)
    return replace(trace, ended=ended, duration=duration, **more)
