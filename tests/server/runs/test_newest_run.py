"""The newest run of a file is the one that began last, whenever the others come to be known."""

from __future__ import annotations

from typing import Any

from loop_ls.server.runs.commands import Runs
from loop_ls.server.runs.run_record import RunRecord


class Watch:
    def __init__(self, *records: RunRecord) -> None:
        self._records = records

    def runs_of(self, key: str) -> list[RunRecord]:
        return [record for record in self._records if record.key == key]


def record(run_id: str, began: str | None) -> RunRecord:
    state: dict[str, Any] = {} if began is None else {"runId": run_id, "startedAt": began}
    return RunRecord(run_id, "file:///w.yaml", state=state)


def test_older_runs_that_are_looked_up_later_stay_older() -> None:
    runs = Runs.__new__(Runs)
    new, old = record("new", "2026-11-28T10:00:02Z"), record("old", "2026-11-28T10:00:01Z")
    elsewhere, begun = record("elsewhere", "2026-11-27T10:00:00Z"), record("begun", None)
    runs._links = {None: (None, Watch(begun, new, old)), 1: (None, Watch(elsewhere))}  # type: ignore[dict-item]
    assert [one.run_id for one in runs.records("file:///w.yaml")] == ["elsewhere", "old", "new", "begun"]
