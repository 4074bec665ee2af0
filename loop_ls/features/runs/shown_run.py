"""The state of a run and the view of its facts as the values that lenses and findings show.

`shown_run(state, view)` takes what the engine answers and forgives what is missing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from loop_ls.contract.endings import ENDED
from loop_ls.features.answers import LoopView, ShownRun
from loop_ls.features.runs.enhance_rounds import rounds_of

if TYPE_CHECKING:
    from loop_ls.contract.run_view import fold
    from loop_ls.contract.run_view.parts import Loop

Json = Mapping[str, Any]


def shown_run(state: Json, view: fold.RunView | None = None) -> ShownRun:
    """Without a view, as far as the state tells."""
    target = state.get("target")
    target = target if isinstance(target, Mapping) else {}
    status = _text(state, "status") or "queued"
    loops = {} if view is None else view.own_loops
    return ShownRun(
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
        recovered=view is not None and view.recovered,
        mock=state.get("mock") is True,
        paid_twice=bool(state.get("mayHavePaidTwice")),
        waiting=status == "waiting_approval",
        approval=_text(pending, "loopId") if isinstance(pending := state.get("pendingApproval"), Mapping) else "",
        loops={name: _loop(loop, status, state) for name, loop in loops.items()},
        results={} if view is None else dict(view.results),
        rounds=rounds_of(view.rounds) if view is not None and _text(state, "format") == "enhance" else None,
    )


def _loop(loop: Loop, status: str, state: Json) -> LoopView:
    """A loop that had not ended when its run did ends with it."""
    how, reason = str(loop.status), loop.reason
    if how == "running":
        how, reason = (status, _text(state, "reason") or None) if status in ENDED else (_going(status), reason)
    error, verdicts = _message(loop.error), tuple(loop.verdicts)
    return LoopView(loop.name, how, loop.iteration, loop.max, reason, verdicts, error)


def _going(status: str) -> str:
    return "running" if status == "queued" else status


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
