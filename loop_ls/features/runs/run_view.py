"""A run's state and events (the JSON of protocol 4) as the values that lenses and findings show.

`run_view(state, events)` takes what the engine client answers and forgives what is missing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from loop_ls.contract.endings import ENDED
from loop_ls.features.answers import LoopView, RunView, Verdict
from loop_ls.features.runs.enhance_rounds import rounds_of

Json = Mapping[str, Any]

#: Of a result no more is shown than this.
_SHOWN = 600


def run_view(state: Json, events: Iterable[Json] = ()) -> RunView:
    """`events` are those of the run, in order; of loops only those of the started file are kept."""
    target = state.get("target")
    target = target if isinstance(target, Mapping) else {}
    loops: dict[str, LoopView] = {}
    outputs: dict[str, str] = {}
    results: dict[str, str] = {}
    recovered = False
    in_rounds = _text(state, "format") == "enhance"
    facts = list(events)
    for event in facts:
        if event.get("kind") == "recovered":
            recovered = True
        elif in_rounds and event.get("kind") == "round_started":
            loops, outputs, results = {}, {}, {}
        elif (event.get("depth") or 0) == in_rounds:  # a round is a run of the file: one level further down
            _take(loops, outputs, event)
            _take_result(results, event)
    status = _text(state, "status") or "queued"
    return RunView(
        run_id=_text(state, "runId"),
        uri=_text(state, "uri"),
        kind=_text(target, "kind") or "workflow",
        name=_text(target, "name") or _text(state, "name"),
        status=status,
        reason=_text(state, "reason") or None,
        iteration=_number(state, "iteration") or 0,
        done=len(log) if isinstance(log := state.get("progressLog"), list) else 0,
        max_iterations=_number(state, "maxIterations"),
        cost_usd=_amount(state, "costUsd"),
        elapsed_ms=_number(state, "elapsedMs") or 0,
        error=_message(state.get("error")),
        label=_text(state, "label") or None,
        recovered=recovered,
        mock=state.get("mock") is True,
        paid_twice=bool(state.get("mayHavePaidTwice")),
        waiting=status == "waiting_approval",
        approval=_text(pending, "loopId") if isinstance(pending := state.get("pendingApproval"), Mapping) else "",
        loops={name: _settled(loop, status, state) for name, loop in loops.items()},
        results=results,
        rounds=rounds_of(facts) if in_rounds else None,
    )


def _take_result(results: dict[str, str], event: Json) -> None:
    """What a step said; of a loop what its last iteration said."""
    match event.get("kind"):
        case "step_completed":
            results[_text(event, "step")] = _text(event, "output")[:_SHOWN]
        case "iteration" if _text(event, "loop"):
            results[_text(event, "loop")] = _text(event, "output")[:_SHOWN]
        case _:
            return


def _take(loops: dict[str, LoopView], outputs: dict[str, str], event: Json) -> None:
    """What one event says about a loop of the file."""
    kind = event.get("kind")
    if kind == "iteration":
        outputs[_text(event, "place")] = _text(event, "output")
    if kind in ("step_started", "step_completed", "step_failed") and event.get("mode") == "loop":
        _whole(loops, event)
        return
    name = _text(event, "loop")
    if not name or kind not in ("iteration_started", "iteration", "iteration_failed", "judged"):
        return
    loop = loops.get(name) or LoopView(name, "running")
    number = _number(event, "iteration") or loop.iteration
    limit = _number(event, "maxIterations") or loop.max_iterations
    loop = replace(loop, iteration=max(number, loop.iteration), max_iterations=limit)
    if kind == "judged":
        judged = outputs.get(_text(event, "outputRef"), "")
        verdict = Verdict(
            number, _text(event, "verdict") or "unclear", judged, _text(event, "answer"), bool(event.get("local"))
        )
        loop = replace(loop, verdicts=(*loop.verdicts, verdict))
    elif kind == "iteration_failed":
        failed = Verdict(number, "failed", "", _message(event.get("error")))
        loop = replace(loop, verdicts=(*loop.verdicts, failed))
    loops[name] = loop


def _whole(loops: dict[str, LoopView], event: Json) -> None:
    name = _text(event, "step")
    loop = loops.get(name) or LoopView(name, "running")
    match event.get("kind"):
        case "step_started":
            loop = replace(loop, max_iterations=_number(event, "maxIterations"))
        case "step_completed":
            total = _number(event, "totalIterations") or loop.iteration
            loop = replace(loop, status="completed", reason=_text(event, "reason") or None, iteration=total)
        case _:
            reason = _text(event, "reason") or "error"
            loop = replace(loop, status="failed", reason=reason, error=_message(event.get("error")))
    loops[name] = loop


def _settled(loop: LoopView, status: str, state: Json) -> LoopView:
    """A loop that had not ended when its run did ends with it."""
    if loop.status != "running":
        return loop
    if status not in ENDED:
        return replace(loop, status=status if status != "queued" else "running")
    return replace(loop, status=status, reason=_text(state, "reason") or None)


def _text(data: Json, key: str) -> str:
    value = data.get(key)
    return value if isinstance(value, str) else ""


def _number(data: Json, key: str) -> int | None:
    value = data.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _amount(data: Json, key: str) -> float | None:
    value = data.get(key)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _message(error: object) -> str:
    if isinstance(error, Mapping):
        return _text(error, "message")
    return error if isinstance(error, str) else ""
