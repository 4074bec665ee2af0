"""The newest run of a file is the one that began last, whenever the others come to be known."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from loop_ls.server.runs.commands import Runs
from loop_ls.server.runs.run_record import RunRecord
from tests.server.support.editor import Editor
from tests.server.support.raw import RawClient


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


def test_the_lens_shows_the_run_that_goes_on_whatever_is_known_of_older_ones(
    fake: Callable[..., RawClient], folder: Path
) -> None:
    client = fake("older")
    editor = Editor(client, folder)
    run_id = editor.run({"iterations": 3, "hold": 2, "yes": 3})["runId"]
    editor.wait_event("judged", runId=run_id)
    for old in ("old0", "old1", "old2"):
        editor.wait_state(runId=old, status="completed")
    titles = lens_titles(client, editor.uri)
    assert "⏹ Stop" in titles
    assert any(title.startswith("iteration 1/3") for title in titles)
    assert not any("again" in title for title in titles)
    editor.command("loopLs.resume", {"runId": run_id})
    editor.wait_state(runId=run_id, status="completed")
    assert any("✓ condition met in iteration 3" in title for title in lens_titles(client, editor.uri))


def lens_titles(client: RawClient, uri: str) -> list[str]:
    lenses = client.ask("textDocument/codeLens", {"textDocument": {"uri": uri}})["result"]
    return [one["command"]["title"] for one in lenses]
