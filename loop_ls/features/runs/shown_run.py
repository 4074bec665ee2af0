"""The state of a run and the view of its facts as the values that lenses and findings show.

`shown_run(state, view)` takes what the engine answers and forgives what is missing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from loop_ls.contract.amounts import waiting_until
from loop_ls.contract.endings import ENDED
from loop_ls.contract.questions import wait_of
from loop_ls.contract.run_view.parts import message_of
from loop_ls.features.answers import LoopView, ShownRun
from loop_ls.features.runs.enhance_rounds import rounds_of
from loop_ls.text.json_value import as_object, float_field, int_field, text_field

if TYPE_CHECKING:
    from loop_ls.contract.run_view import fold
    from loop_ls.contract.run_view.parts import Loop
    from loop_ls.text.json_value import JsonObject


def shown_run(state: JsonObject, view: fold.RunView | None = None) -> ShownRun:
    """Without a view, as far as the state tells."""
    target = state.get("target")
    target = target if isinstance(target, dict) else {}
    status = text_field(state, "status") or "queued"
    loops = {} if view is None else view.own_loops
    return ShownRun(
        run_id=text_field(state, "runId"),
        uri=text_field(state, "uri"),
        kind=text_field(target, "kind") or "workflow",
        name=text_field(target, "name") or text_field(state, "name"),
        status=status,
        reason=text_field(state, "reason") or None,
        iteration=int_field(state, "iteration") or 0,
        done=len(log) if isinstance(log := state.get("progressLog"), list) else 0,
        max_iterations=int_field(state, "maxIterations"),
        cost_usd=float_field(state, "costUsd"),
        elapsed_ms=int_field(state, "elapsedMs") or 0,
        error=message_of(state.get("error")),
        label=text_field(state, "label") or None,
        recovered=view is not None and view.recovered,
        mock=state.get("mock") is True,
        simulated=state.get("simulated") is True,
        paid_twice=bool(state.get("mayHavePaidTwice")),
        waiting=status == "waiting_approval",
        approval=text_field(pending, "loopId") if isinstance(pending := state.get("pendingApproval"), dict) else "",
        asks=wait_of(as_object(state.get("pendingApproval"))),
        loops={name: _loop(loop, status, state) for name, loop in loops.items()},
        until=waiting_until(state.get("resumesAt")),
        results={} if view is None else dict(view.results),
        rounds=rounds_of(view.rounds) if view is not None and text_field(state, "format") == "enhance" else None,
    )


def _loop(loop: Loop, status: str, state: JsonObject) -> LoopView:
    """A loop that had not ended when its run did ends with it."""
    how, reason = str(loop.status), loop.reason
    if how == "running":
        how, reason = (status, text_field(state, "reason") or None) if status in ENDED else (_going(status), reason)
    error, verdicts = message_of(loop.error), tuple(loop.verdicts)
    return LoopView(loop.name, how, loop.iteration, loop.max, reason, verdicts, error, tuple(loop.failed))


def _going(status: str) -> str:
    return "running" if status == "queued" else status
