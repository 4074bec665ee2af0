"""SIGKILL wherever an enhance loop has something to lose: between its rounds it waits for a person and for an
editor. Back again it spends nothing until somebody resumes it, and then it ends as if nobody had been killed."""

from __future__ import annotations

import json
import signal
import sys
from collections import Counter
from pathlib import Path

import pytest

from loop_ls.engine.journal import SqliteStorage
from tests.processes import forked

TOP = Path(__file__).resolve().parents[3]
FLOW = """\
$schema: workflow/v2.0
name: report
version: 1.0.0
execution: {provider: acme, model: large}
steps:
  - {name: draft, run: Write.}   # the first words
  - name: review
    needs: [draft]
    run: Review {{draft}}
"""
MENDED = FLOW.replace("Review {{draft}}", "Review {{draft}} kindly")
SETTINGS = "assist: {provider: acme, model: wise}\nenhance: {pauseBetweenRounds: true}\n"
#: Where it is killed: before or after the first transaction with a fact of this kind.
POINTS = [
    *(("round_started", "after"), ("report_ready", "before"), ("report_ready", "after")),
    *(("ops_proposed", "before"), ("ops_proposed", "after")),
    *(("loop_paused", "before"), ("loop_paused", "after")),  # waiting between rounds
    *(("loop_continued", "before"), ("loop_continued", "after")),
    *(("edit_sent", "before"), ("edit_sent", "after")),  # the edit is on its way, nobody has it
    *(("edit_acknowledged", "before"), ("edit_acknowledged", "after")),  # the editor has it, the engine may not know
    ("completed", "before"),
]
#: What a restart adds. A step that was under way is asked once more, and says so.
ADDED = {"interrupted", "resumed", "recovered", "iteration_started", "step_started", "planner_started"}


def live(folder: Path, kind: str = "", when: str = "") -> int:
    command = [sys.executable, "-m", "tests.engine.crash.enhance_child", str(folder), kind, when]
    return forked.run(command, 110, cwd=TOP).returncode


def project(folder: Path) -> Path:
    (folder / "project").mkdir(parents=True)
    (folder / "project" / "report.yaml").write_text(FLOW)
    (folder / "project" / ".loop-ls.yaml").write_text(SETTINGS)
    (folder / "buffer.yaml").write_text(FLOW)
    return folder


def facts(folder: Path) -> list[tuple[str, str]]:
    """Kind and place of everything journalled, in order; numbers have no gap."""
    storage = SqliteStorage(folder / "data" / "journal.db")
    try:
        [run] = storage.runs(None, 10)
        rows = storage.facts(run.run, 0, 1000)
        assert [row.seq for row in rows] == list(range(1, len(rows) + 1))
        return [(row.kind, str(json.loads(row.body).get("place", ""))) for row in rows]
    finally:
        storage.close()


def asked(folder: Path) -> list[str]:
    return (folder / "requests.log").read_text().splitlines()


@pytest.fixture(scope="module")
def unharmed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = project(tmp_path_factory.mktemp("unharmed"))
    assert live(folder) == 0
    assert (folder / "buffer.yaml").read_text() == MENDED
    return folder


@pytest.mark.parametrize(("kind", "when"), POINTS)
def test_EB_118_a_killed_engine_waits_to_be_resumed_and_loses_nothing(
    tmp_path: Path, unharmed: Path, kind: str, when: str
) -> None:
    folder = project(tmp_path)
    assert live(folder, kind, when) == -signal.SIGKILL
    before = asked(folder) if (folder / "requests.log").exists() else []
    assert live(folder) == 0
    log = asked(folder)
    assert log[: len(before) + 1] == [*before, "interrupted"]  # nothing was spent until it was resumed
    again = Counter(one for one in log if one != "interrupted") - Counter(asked(unharmed))
    assert sum(again.values()) <= 1  # the call in flight
    assert not Counter(asked(unharmed)) - Counter(log)
    told, expected = facts(folder), facts(unharmed)
    assert {one for one, _ in Counter(told) - Counter(expected)} <= ADDED
    assert not Counter(expected) - Counter(told)
    assert (folder / "buffer.yaml").read_text() == MENDED
    assert len((folder / "edits.log").read_text().splitlines()) == 1  # taken once, however often it was sent
    assert (folder / "project" / "report.yaml").read_text() == FLOW
