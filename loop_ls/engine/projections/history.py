"""Rows of a run's history as HTTP, MCP and the editor get them: iterations with their stages.

Written from the run's view; questions to the judge are rendered here, because the journal does not hold them.
"""

from __future__ import annotations

from collections.abc import Iterable

from loop_ls.contract.ids import place_id
from loop_ls.contract.run_view.fold import RunView, folded
from loop_ls.contract.run_view.parts import Row as RowView
from loop_ls.contract.run_view.parts import Stage
from loop_ls.engine.roles.records.rows import is_role_loop, role_rows
from loop_ls.formats.workflow.judge_question import until_question
from loop_ls.text.json_value import Json, JsonObject

Event = JsonObject
Row = JsonObject


def iterations(run_id: str, events: Iterable[Event]) -> list[Row]:
    """`rows_of` the view of these facts, with all of every text."""
    return rows_of(run_id, folded(events, keep=None))


def rows_of(run_id: str, view: RunView) -> list[Row]:
    """One row for each try of each iteration of each loop, in the order in which they began; those of a role loop
    completed.

    `{id, loop_id, loop, place, depth, iteration_number, attempt, status, output?, verdict?, answer?,
    question?, condition?, local?, error?, usd?, calls, tokens, started_at, completed_at?, stages: [...]}`
    """
    rows = [_iteration(run_id, row) for row in view.iterations]
    return role_rows(run_id, view.started, rows) if is_role_loop(view.started) else rows


def stages_of(stages: Iterable[Stage]) -> list[Row]:
    """Steps, of one iteration or outside of all."""
    return [_stage(number, stage) for number, stage in enumerate(stages)]


def status_of(row: RowView) -> str:
    """The documented status of an iteration: one that was judged and is not good enough needs rework."""
    if row.status == "failed" and (row.error or {}).get("code") == "deadline":
        return "cancelled"
    if row.status == "waiting":
        return "completed" if row.output is not None else "running"
    return "needs_rework" if row.status == "completed" and row.verdict not in (None, "yes") else row.status


def _iteration(run_id: str, row: RowView) -> JsonObject:
    known = {"completed_at": row.ended_at, "output": row.output, "error": row.error, "usd": row.usd}
    judged = {"verdict": row.verdict, "answer": row.answer, "local": row.local, "condition": row.condition}
    told = {name: value for name, value in (known | judged).items() if value is not None}
    return {
        "id": place_id(run_id, row.id),
        "loop_id": run_id,
        "loop": row.name,
        "place": row.id,
        "depth": row.depth,
        "iteration_number": row.number,
        "attempt": row.attempt,
        "max_iterations": row.max,
        "status": status_of(row),
        "calls": row.calls,
        "tokens": {"input": row.tokens.input, "output": row.tokens.output},
        "started_at": row.started_at,
        **row.more,
        **told,
        **({"findings": list[Json](row.findings)} if row.findings else {}),
        **_question(row),
        "stages": stages_of(row.stages),
    }


def _question(row: RowView) -> JsonObject:
    if row.verdict is None or row.local or row.criterion != "until":
        return {}
    condition = row.interpolated or row.condition or ""
    return {"question": until_question(condition, row.output or "", bool(row.may_be_impossible))}


def _stage(number: int, stage: Stage) -> Row:
    told = {
        "completed_at": stage.ended_at,
        "output": stage.output,
        "error": stage.error,
        "reason": stage.reason,
        "totalIterations": stage.total_iterations,
        "artifact": stage.artifact,
        "verdict": stage.verdict,
        "usd": stage.usd,
    }
    return {
        "stage_index": number,
        "name": stage.name,
        "role": stage.role,
        "mode": stage.mode,
        "place": stage.place,
        "status": stage.status,
        "started_at": stage.started_at,
        **stage.more,
        **{name: value for name, value in told.items() if value is not None},
    }
