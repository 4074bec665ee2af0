"""Counts and durations of one run, from its facts: what `metrics` answers on every surface."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from loop_ls.contract.run_state import RunStateView
from loop_ls.contract.run_view.fold import RunView
from loop_ls.engine.projections.history import rows_of, stages_of

Row = dict[str, Any]


#: The newest iterations of which the time is told one by one.
TIMINGS = 100


def measured(state: RunStateView, view: RunView, now: datetime) -> Row:
    """`{loop_id, status, current_iteration, duration_seconds, iterations, stages, timings, calls, ...}`."""
    rows = rows_of(state["runId"], view)
    stages = [*stages_of(view.outside), *(stage for row in rows for stage in row["stages"])]
    seconds = [lasted(row, now) for row in rows]
    timings = [
        {"iteration": row["iteration_number"], "id": row["id"], "seconds": took}
        for row, took in zip(rows[-TIMINGS:], seconds[-TIMINGS:], strict=True)
    ]
    total = sum(seconds)
    return {
        "loop_id": state["runId"],
        "status": state["status"],
        "current_iteration": state.get("iteration", 0),
        "duration_seconds": state.get("elapsedMs", 0) / 1000,
        "iterations": {"total": len(rows), "by_status": _counted(row["status"] for row in rows)},
        "stages": {
            "total": len(stages),
            "by_status": _counted(stage["status"] for stage in stages),
            "by_role": _counted(stage.get("role") or stage.get("name") for stage in stages),
        },
        "timings": {
            "total_iteration_seconds": round(total, 3),
            "average_iteration_seconds": round(total / len(rows), 3) if rows else 0.0,
            "iteration_timings": timings,
        },
        "calls": state.get("calls", 0),
        "tokens": state.get("tokens") or {},
        "usd": state.get("costUsd"),
    }


def lasted(row: Row, now: datetime) -> float:
    """Seconds of an iteration or stage, to now if it goes on; never negative, whatever the clocks did."""
    began = _moment(row.get("started_at"))
    if began is None:
        return 0.0
    ended = _moment(row.get("completed_at")) or now
    return round(max(0.0, (ended - began).total_seconds()), 3)


def _counted(names: Iterable[Any]) -> dict[str, int]:
    return dict(Counter(str(name) for name in names))


def _moment(text: Any) -> datetime | None:
    try:
        return datetime.fromisoformat(str(text).replace("Z", "+00:00")) if text else None
    except ValueError:
        return None
