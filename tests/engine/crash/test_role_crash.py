"""SIGKILL at every kind of fact that a role loop has: nothing that was finished is done again, no fact is lost
or doubled, and the loop ends as if nobody had been killed."""

from __future__ import annotations

import json
import signal
import sqlite3
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from loop_ls.engine.journal import SqliteStorage
from tests.processes import forked

CHILD = "tests.engine.crash.role_child"
PAIR = {
    "name": "pair",
    "description": "d",
    "roles": [{"role": "plan", "prompt": "Plan."}, {"name": "review", "role": "reviewer", "prompt": "APPROVED?"}],
    "termination_condition": {"type": "evaluation_bound", "value": {"criteria": "good", "max_review_rounds": 4}},
}
#: Where it is killed: before or after the first transaction with a fact of this kind.
POINTS = [
    *(("run_started", "after"), ("stage_started", "after"), ("tool_called", "before"), ("tool_called", "after")),
    *(("stage_completed", "before"), ("stage_completed", "after"), ("judged", "before"), ("judged", "after")),
]
CALLS = ["pair/1/plan 0", "pair/1/plan 1", "pair/1/review 0", "pair/2/plan 0", "pair/2/plan 1", "pair/2/review 0"]


def live(folder: Path, kind: str = "", when: str = "") -> int:
    return forked.run([sys.executable, "-m", CHILD, str(folder), kind, when], 90).returncode


def project(folder: Path) -> Path:
    loops = folder / "project" / "loops"
    loops.mkdir(parents=True)
    (loops / "pair.json").write_text(json.dumps(PAIR))
    (folder / "project" / ".loop-ls.yaml").write_text("assist: {provider: ollama, model: m}\n")
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


def records(folder: Path, table: str) -> list[tuple[Any, ...]]:
    with sqlite3.connect(folder / "data" / "records.db") as connection:
        wanted = {"sprints": "title, status", "artifacts": "title, content"}[table]
        return connection.execute(f"select {wanted} from {table} order by rowid").fetchall()


@pytest.fixture(scope="module")
def unharmed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = project(tmp_path_factory.mktemp("unharmed"))
    assert live(folder) == 0
    return folder


@pytest.mark.parametrize(("kind", "when"), POINTS)
def test_RB_072_a_killed_engine_takes_the_loop_up_where_it_was(
    tmp_path: Path, unharmed: Path, kind: str, when: str
) -> None:
    folder = project(tmp_path)
    assert live(folder, kind, when) == -signal.SIGKILL
    assert live(folder) == 0
    told, expected = facts(folder), facts(unharmed)
    again = Counter(told) - Counter(expected)
    # A stage that was under way is handed out once more, and says so.
    assert {kind for kind, _ in again} <= {"recovered", "stage_started"}
    assert sum(again.values()) <= 2
    assert not Counter(expected) - Counter(told)
    asked = Counter((folder / "requests.log").read_text().splitlines())
    assert sorted(asked) == CALLS
    assert sum(asked.values()) <= len(CALLS) + 1  # the one in flight
    for table in ("sprints", "artifacts"):
        assert records(folder, table) == records(unharmed, table)
