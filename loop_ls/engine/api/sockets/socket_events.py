"""What sockets are sent about loops of assistants: the documented events, made of what loops tell.

Pure: a told event in, messages out. Ids of notifications are unique from run to run, so that no client
takes the second run's for the first one's.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from loop_ls.engine.assistants.event_mapping import LoopEvent, LoopRun, agent_of
from loop_ls.engine.events import RunState
from loop_ls.text.json_value import Json, JsonObject, plain_object, text_field

Answer = JsonObject

TITLE = 80


class Message(NamedTuple):
    event: str
    payload: JsonObject


def messages(told: LoopEvent) -> Iterator[Message]:
    """In the order in which they are sent to the sockets of the user whose run it is."""
    run, payload = told.run, told.payload
    match told.event:
        case "running":
            yield _status(run, "running")
        case "iteration":
            numbers = {name: payload[name] for name in ("iteration", "maxIterations")}
            yield Message("agent:loop_iteration", {"agentId": run.agent, **numbers})
        case "progress":
            number = payload["iteration"]
            title = f"Iteration {number}: {str(payload['learning'])[:TITLE]}"
            yield _notification(run, f"loop-progress-{run.agent}-{number}-{run.run_id}", "info", title)
        case "manual_approval_required":
            yield _status(run, "waiting_approval")
            yield _approval(run, payload)
        case "resolved":
            yield _status(run, "running")
        case "warning":
            yield _notification(run, f"loop-warning-{run.agent}-{run.run_id}", "info", str(payload["message"]))
        case "completed":
            yield _completed(run, payload)
            yield _status(run, "idle")
        case "failed":
            yield from _failed(run, payload)
        case "stopped":
            yield _status(run, "idle")
        case _:
            pass


def standing(state: RunState) -> Iterator[Message]:
    """What a socket has to know of a loop that it did not see begin: its status, and what it asks."""
    run = LoopRun(state.run_id, agent_of(state.target), state.name, state.user)
    yield _status(run, "waiting_approval" if state.asked else "running")
    for asked in state.asked:
        yield _approval(run, {"loopId": None, "iteration": None, "output": None, **plain_object(asked)})


def error(agent: str, kind: str, text: str, **more: Json) -> Message:
    return Message("agent:error", {"agentId": agent, "sessionId": "", "error": text, "type": kind, **more})


def _approval(run: LoopRun, payload: JsonObject) -> Message:
    loop_id, number = payload["loopId"], payload["iteration"]
    return _notification(
        run,
        f"loop-approval-{run.agent}-{loop_id}",
        "action_required",
        f"`{run.name}` waits for your review of iteration {number}.",
        actions=["approve", "reject"],
        loopId=loop_id,
        iteration=number,
        output=payload["output"],
    )


def _completed(run: LoopRun, payload: JsonObject) -> Message:
    count = payload["totalIterations"]
    how = "met its criterion" if payload["reason"] == "criterion_met" else f"ended ({payload['reason']})"
    title = f"`{run.name}` {how} after {count} {'iteration' if count == 1 else 'iterations'}."
    more = {name: payload[name] for name in ("reason", "finalOutput", "lastOutput")}
    return _notification(run, f"loop-completed-{run.agent}-{run.run_id}", "info", title, **more)


def _failed(run: LoopRun, payload: Answer) -> Iterator[Message]:
    number, text = payload["iteration"], str(payload["error"])
    said = text if text.startswith("Iteration ") else f"Iteration {number}: {text}"
    yield error(run.agent, text_field(payload, "errorType"), said, iteration=number, cause=payload["cause"])
    yield _notification(run, f"loop-failed-{run.agent}-{run.run_id}", "error", said)
    if payload["cause"] != "stopped":
        yield _status(run, "error")


def _status(run: LoopRun, status: str) -> Message:
    return Message("agent:status", {"agentId": run.agent, "status": status})


def _notification(run: LoopRun, id_: str, level: str, title: str, **more: Json) -> Message:
    return Message("notification", {"id": id_, "level": level, "title": title, "agentId": run.agent, **more})
