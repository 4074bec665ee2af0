"""Iterations and stages of a role loop as the documented records: stages that wait included.

A view of what happened: the first iteration is there from the start, and every stage of an iteration.
"""

from __future__ import annotations

from loop_ls.contract.ids import place_id
from loop_ls.contract.run_view.rounds import listed
from loop_ls.engine.roles.outcome import one_line, summary
from loop_ls.engine.roles.records.ids import sprint_id
from loop_ls.text.json_value import JsonObject, as_object, int_field, text_field

Row = JsonObject


def is_role_loop(started: Row) -> bool:
    return bool(started.get("format") == "role_loop" and as_object(started.get("plan")).get("stages"))


def role_rows(run_id: str, started: Row, rows: list[JsonObject]) -> list[JsonObject]:
    """The rows of one run, completed."""
    stages = listed(as_object(started["plan"])["stages"])
    return [_iteration(run_id, stages, row) for row in rows or [_first(run_id, started)]]


def _first(run_id: str, started: Row) -> Row:
    """Iteration 1, before anything has happened in it."""
    place = f"{started['name']}/1"
    return {
        "id": place_id(run_id, place),
        "loop_id": run_id,
        "loop": started["name"],
        "place": place,
        "depth": 0,
        "iteration_number": 1,
        "attempt": 1,
        "max_iterations": as_object(started.get("limits")).get("maxIterations"),
        "status": "running",
        "calls": 0,
        "tokens": {"input": 0, "output": 0},
        "started_at": started.get("at"),
        "stages": [],
    }


def _iteration(run_id: str, planned: list[JsonObject], row: Row) -> JsonObject:
    by_index = {stage.get("index", number): stage for number, stage in enumerate(listed(row["stages"]))}
    stages = [
        _stage(run_id, text_field(row, "place"), index, one, by_index.get(index)) for index, one in enumerate(planned)
    ]
    told = [stage for stage in stages if stage["status"] in ("completed", "failed")]
    return {
        **row,
        "sprint_id": sprint_id(run_id, int_field(row, "iteration_number") or 0),
        "outcome_summary": "\n".join(_line(stage) for stage in told) or None,
        "stages": stages,
    }


def _stage(run_id: str, iteration: str, index: int, planned: Row, found: Row | None) -> JsonObject:
    waiting: JsonObject = {"status": "pending", "started_at": None, "completed_at": None, "name": planned["label"]}
    stage = {**waiting, **(found or {})}
    error = stage.get("error")
    told = f"FAILED: {as_object(error).get('message', '')}" if error else stage.get("output")
    return {
        **stage,
        "id": place_id(run_id, text_field(stage, "place") or f"{iteration}/{planned['label']}"),
        "iteration_id": place_id(run_id, iteration),
        "stage_index": index,
        "role": planned["role"],
        "label": planned["label"],
        "task_id": stage.get("task"),
        "artifact_id": stage.get("artifact"),
        "model": stage.get("model"),
        "metadata": {},
        "result_summary": None if told is None else summary(str(told)),
    }


def _line(stage: Row) -> str:
    return one_line(text_field(stage, "role"), text_field(stage, "status"), text_field(stage, "result_summary"))
