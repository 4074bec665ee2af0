"""What happened in a run, iteration by iteration: the read model behind history, `runs show` and views.

A fold over the run's events; questions to the judge are rendered here, from the facts, because the
journal does not hold them. Knows no HTTP and no printing.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from loop_ls.engine.roles.records.rows import is_role_loop, role_rows
from loop_ls.formats.workflow.judge_question import until_question

Event = dict[str, Any]
Row = dict[str, Any]


def iterations(run_id: str, events: Iterable[Event]) -> list[Row]:
    """One row for each try of each iteration of each loop, in the order in which they began.

    `{id, loop_id, loop, place, depth, iteration_number, attempt, status, output?, verdict?, answer?,
    question?, condition?, local?, error?, usd?, calls, tokens, started_at, completed_at?, stages: [...]}`
    """
    rows_read = IterationRows(run_id)
    for event in events:
        rows_read.read(event)
    return rows_read.iterations()


def outer_stages(events: Iterable[Event]) -> list[Row]:
    """Steps of the started workflow that lie in no iteration."""
    rows_read = IterationRows("")
    for event in events:
        rows_read.read(event)
    return rows_read.outside


class IterationRows:
    """Rows by the key of their place (`develop/3`), stages by theirs (`develop/3/write`)."""

    def __init__(self, run_id: str) -> None:
        self._run_id = run_id
        self.last_seq = 0
        self.started: Event = {}
        self.rows: dict[str, Row] = {}
        self.outside: list[Row] = []
        self._stages: dict[str, Row] = {}

    def iterations(self) -> list[Row]:
        """The rows so far; those of a role loop completed."""
        rows = list(self.rows.values())
        return role_rows(self._run_id, self.started, rows) if is_role_loop(self.started) else rows

    def read(self, event: Event) -> None:
        """Facts come in order."""
        self.last_seq = event.get("seq", self.last_seq)
        place = str(event.get("place", ""))
        match event["kind"]:
            case "run_started":
                self.started = event
            case "iteration_started":
                self.rows[place] = self._begin(event, place)
            case "iteration" | "iteration_failed" | "judged":
                row = self._around(place)
                if row is not None:
                    _note(row, event)
            case "stage_started" if place in self._stages:
                self._stages[place].update(_handed(event), status="running")  # again, after a crash
            case "step_started" | "step_skipped" | "stage_started":
                self._stage(event, place)
            case "step_completed" | "step_failed" | "stage_completed" | "stage_failed":
                _end(self._stages.get(place) or self._stage(event, place), event)
            case "call":
                self._paid(event, place)
            case "completed" | "failed" | "cancelled":
                self._close(event)

    def _begin(self, event: Event, place: str) -> Row:
        return {
            "id": place,
            "loop_id": self._run_id,
            "loop": event.get("loop"),
            "place": place,
            "depth": event.get("depth", 0),
            "iteration_number": event.get("iteration"),
            "attempt": event.get("attempt", 1),
            "max_iterations": event.get("maxIterations"),
            "status": "running",
            "calls": 0,
            "tokens": {"input": 0, "output": 0},
            "started_at": event.get("at"),
            **_source(event),
            "stages": [],
        }

    def _around(self, place: str) -> Row | None:
        """The iteration a place lies in: its own, or the nearest around it."""
        key = place.partition(":")[0]
        while key:
            if key in self.rows:
                return self.rows[key]
            key = key.rpartition("/")[0]
        return None

    def _stage(self, event: Event, place: str) -> Row:
        name = event.get("step") or event.get("stage")
        row = self._around(place.rpartition("/")[0])
        home = self.outside if row is None else row["stages"]
        stage: Row = {
            "stage_index": len(home),
            "name": name,
            "role": event.get("role"),
            "mode": event.get("mode"),
            "place": place,
            "status": "skipped" if event["kind"] == "step_skipped" else "running",
            "started_at": event.get("at"),
            **_source(event),
            **_handed(event),
        }
        home.append(stage)
        self._stages[place] = stage
        return stage

    def _paid(self, event: Event, place: str) -> None:
        """Money and tokens of the iteration, and of the step. What another run paid is not this one's."""
        row = self._around(place)
        if event.get("copied"):
            return
        if row is not None:
            row["calls"] += 1
            for side, count in (event.get("tokens") or {}).items():
                row["tokens"][side] = row["tokens"].get(side, 0) + count
        for paid in (row, self._stages.get(place)):
            if paid is not None and event.get("usd") is not None:
                paid["usd"] = paid.get("usd", 0.0) + event["usd"]

    def _close(self, event: Event) -> None:
        """What still ran when the run ended did not finish."""
        for row in (*self.rows.values(), *self._stages.values()):
            if row["status"] == "running":
                row["status"] = "cancelled" if event["kind"] == "cancelled" else "failed"
                row["completed_at"] = event.get("at")


def _source(event: Event) -> Row:
    """Where it is written: the file, and the workflow in it."""
    return {name: event[name] for name in ("file", "workflow") if event.get(name)}


def _handed(event: Event) -> Row:
    """What a stage of a role loop has besides."""
    return {name: event[name] for name in ("index", "task", "session", "model") if event.get(name) is not None}


def _note(row: Row, event: Event) -> None:
    row["completed_at"] = event.get("at")
    match event["kind"]:
        case "iteration":
            row["status"], row["output"] = "completed", event.get("output", "")
        case "iteration_failed":
            error = event.get("error") or {}
            row["status"] = "cancelled" if error.get("code") == "deadline" else "failed"
            row["error"] = error
        case _:
            row["status"] = "completed" if event.get("verdict") == "yes" else "needs_rework"
            for name in ("verdict", "answer", "local", "condition"):
                if name in event:
                    row[name] = event[name]
            if not event.get("local") and event.get("criterion") == "until":
                condition = event.get("interpolated") or event.get("condition", "")
                row["question"] = until_question(condition, row.get("output", ""))


def _end(stage: Row, event: Event) -> None:
    failed = event["kind"].endswith("failed")
    stage["status"] = "failed" if failed else "completed"
    stage["completed_at"] = event.get("at")
    for name in ("output", "error", "reason", "totalIterations", "artifact"):
        if event.get(name) is not None:
            stage[name] = event[name]
