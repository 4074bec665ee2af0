"""Counts and durations of one run, from its facts: what `metrics` answers on every surface."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

from loop_ls.contract.ids import place_id
from loop_ls.contract.run_state import RunStateView
from loop_ls.contract.run_view.fold import RunView
from loop_ls.contract.run_view.parts import Row as RowView
from loop_ls.contract.run_view.rounds import listed
from loop_ls.engine.projections.history import rows_of, status_of
from loop_ls.engine.roles.records.rows import is_role_loop
from loop_ls.text.json_value import JsonObject, as_object, int_field, text_field

Row = JsonObject


#: The newest iterations of which the time is told one by one.
TIMINGS = 100


def measured(state: RunStateView, view: RunView, now: datetime) -> Row:
    """`{loop_id, status, current_iteration, duration_seconds, iterations, stages, timings, calls, ...}`."""
    rows = list(_counted_rows(str(state["runId"]), view, now))
    stages: list[tuple[str, str | None]] = [(stage.status, stage.role or stage.name) for stage in view.outside]
    stages += [stage for row in rows for stage in row.stages]
    timings: list[JsonObject] = [
        {"iteration": row.number, "id": row.id, "seconds": row.seconds} for row in rows[-TIMINGS:]
    ]
    total = sum(row.seconds for row in rows)
    return {
        "loop_id": state["runId"],
        "status": state["status"],
        "current_iteration": state.get("iteration", 0),
        "duration_seconds": age(state, now),
        "active_seconds": state.get("elapsedMs", 0) / 1000,
        "iterations": {"total": len(rows), "by_status": _counted(row.status for row in rows)},
        "stages": {
            "total": len(stages),
            "by_status": _counted(status for status, _ in stages),
            "by_role": _counted(name for _, name in stages),
        },
        "timings": {
            "total_iteration_seconds": round(total, 3),
            "average_iteration_seconds": round(total / len(rows), 3) if rows else 0.0,
            "iteration_timings": timings,
        },
        "calls": state.get("calls", 0),
        "tokens": as_object(state.get("tokens")),
        "usd": state.get("costUsd"),
    }


class _Counted(NamedTuple):
    """What is counted of an iteration. `stages`: status, and role or name."""

    number: int
    id: str
    status: str
    seconds: float
    stages: Sequence[tuple[str, str | None]]


def _counted_rows(run_id: str, view: RunView, now: datetime) -> Iterator[_Counted]:
    if not is_role_loop(view.started):
        for one in view.iterations:
            stages = [(stage.status, stage.role or stage.name) for stage in one.stages]
            yield _Counted(one.number, place_id(run_id, one.id), status_of(one), _kept(one, now), stages)
        return
    for row in rows_of(run_id, view):
        turns = [(text_field(stage, "status"), text_field(stage, "role")) for stage in listed(row["stages"])]
        number = int_field(row, "iteration_number") or 0
        yield _Counted(number, text_field(row, "id"), text_field(row, "status"), lasted(row, now), turns)


def _kept(row: RowView, now: datetime) -> float:
    """`lasted`, worked out once for what has ended: a run may have thousands."""
    if row.took is None or row.took[0] != row.ended_at:  # a verdict comes after the end of the body
        row.took = row.ended_at, lasted({"started_at": row.started_at, "completed_at": row.ended_at}, now)
    return row.took[1] if row.ended_at else lasted({"started_at": row.started_at}, now)


def lasted(row: Row, now: datetime) -> float:
    """Seconds of an iteration or stage, to now if it goes on; never negative, whatever the clocks did."""
    began = _moment(row.get("started_at"))
    if began is None:
        return 0.0
    ended = _moment(row.get("completed_at")) or now
    return round(max(0.0, (ended - began).total_seconds()), 3)


def age(state: RunStateView, now: datetime) -> float:
    """Seconds from the start of a run to its end, or to now: pauses included."""
    return lasted({"started_at": state.get("startedAt"), "completed_at": state.get("endedAt")}, now)


def _counted(names: Iterable[str | None]) -> dict[str, int]:
    return dict(Counter(str(name) for name in names))


def _moment(text: object) -> datetime | None:
    try:
        return datetime.fromisoformat(str(text)) if text else None
    except ValueError:
        return None
