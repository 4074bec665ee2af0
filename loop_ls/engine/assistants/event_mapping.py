"""What happens in loops of assistants, in the five events of their document.

Made of the facts of runs as they come. What a stop does to a question that is open is said here: it counts
as rejected, once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from loop_ls.contract.run_state import RunStateView
from loop_ls.engine.assistants.errors import classified
from loop_ls.engine.assistants.views import REJECTED, cause_of, reason_of
from loop_ls.engine.events import RunState
from loop_ls.text.json_value import JsonObject, as_object, int_field, text_field
from loop_ls.text.record import equal_record

Answer = JsonObject


@dataclass(slots=True)
class LoopRun:
    """A run of an assistant that goes on. `asked` is the iteration that waits for a person."""

    run_id: str
    agent: str
    name: str
    user: str | None
    asked: int | None = None
    rejected: bool = False


@equal_record
class LoopEvent:
    """One event of the document. `terminal`: none follows it."""

    run: LoopRun
    event: str
    payload: JsonObject

    @property
    def terminal(self) -> bool:
        return self.event in ("completed", "failed")


class EventMapper:
    """`live` are the runs that go on already."""

    def __init__(self, live: Iterable[RunState] = ()) -> None:
        self.runs: dict[str, LoopRun] = {}
        for state in live:
            if state.format == "assistant":
                run = self.runs[state.run_id] = LoopRun(state.run_id, agent_of(state.target), state.name, state.user)
                run.asked = state.asked[0].get("iteration") if state.asked else None

    def know(self, state: RunStateView) -> None:
        """A run that began before the facts which follow."""
        id_ = state["runId"]
        self.runs[id_] = LoopRun(id_, agent_of(state.get("target")), state["name"], state.get("user"))

    def hear(self, fact: Answer) -> Iterator[LoopEvent]:
        """`fact` as it travels. Ends with `("stopped", {})` for a run that was stopped or torn down."""
        if fact["kind"] == "run_started" and fact.get("format") == "assistant":
            id_, user = text_field(fact, "runId"), text_field(fact, "user") or None
            run = self.runs[id_] = LoopRun(id_, agent_of(fact.get("target")), str(fact.get("name")), user)
            yield LoopEvent(run, "running", {})
            return
        known = self.runs.get(text_field(fact, "runId"))
        if known is None:
            return
        yield from (LoopEvent(known, *each) for each in _events(known, fact))
        if fact["kind"] in ("completed", "failed", "cancelled"):
            del self.runs[text_field(fact, "runId")]


def _events(run: LoopRun, fact: Answer) -> Iterator[tuple[str, JsonObject]]:
    match fact["kind"]:
        case "iteration_started":
            yield "started", _of(fact, "iteration", "maxIterations")
        case "iteration":
            yield "iteration", _of(fact, "iteration", "maxIterations", "output")
        case "progress":
            yield "progress", _of(fact, "iteration", "learning")
        case "manual_approval_required":
            run.asked = int_field(fact, "iteration")
            yield "manual_approval_required", _of(fact, "iteration", "output", "loopId")
        case "approval_resolved":
            run.asked = None
            yield "resolved", {}
        case "warning":
            yield "warning", _of(fact, "message")
        case "stopping" if run.asked is not None:
            run.rejected = True
            yield (
                "failed",
                {"iteration": run.asked, "error": REJECTED, "cause": "stopped", "errorType": "PROCESS_ERROR"},
            )
        case "completed":
            told = {"totalIterations": fact.get("totalIterations", 0), "finalOutput": fact.get("finalOutput", "")}
            yield (
                "completed",
                {**told, "reason": reason_of(fact.get("reason")), "lastOutput": fact.get("lastOutput", "")},
            )
        case "failed":
            yield "failed", _failed(fact)
        case "cancelled":
            yield "stopped", {"cause": fact.get("cause", "user"), "rejected": run.rejected}
        case _:
            pass


def _failed(fact: Answer) -> Answer:
    message = str(as_object(fact.get("error")).get("message", ""))
    return {
        "iteration": fact.get("iteration", 0),
        "error": message,
        "cause": cause_of(fact.get("reason")),
        "errorType": classified(message),
    }


def _of(fact: JsonObject, *names: str) -> JsonObject:
    return {name: fact.get(name) for name in names}


def agent_of(target: object) -> str:
    return str(as_object(target).get("name") or "")
