"""SIGKILL at every kind of fact that a loop of an assistant has: no agent that had answered is started again, no
fact is lost or doubled, and a person who is asked is asked on.

The witness is the agent's own list of calls; facts are compared with those of a loop that nobody killed.
"""

from __future__ import annotations

import json
import signal
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from loop_ls.engine.journal import SqliteStorage
from tests.engine.assistants.support.project import EngineProject
from tests.processes import forked

ROOT = Path(__file__).resolve().parents[3]
MODULE = "tests.engine.assistants.support.engine_process"
#: scenario -> the kinds that its loop has.
KINDS = {
    "tested": ["run_started", "iteration_started", "call", "iteration", "progress", "judged", "completed"],
    "asked": ["manual_approval_required", "approval_resolved"],
}
#: Before the first fact nothing was accepted, and whoever started it was told nothing.
CASES = [
    (scenario, kind, when)
    for scenario, kinds in KINDS.items()
    for kind in kinds
    for when in ("before", "after")
    if (kind, when) != ("run_started", "before")
]


def live(folder: Path, *words: str) -> int:
    command = [sys.executable, "-m", MODULE, str(folder), "approve", *words]
    return forked.run(command, 90, cwd=ROOT).returncode


def project(folder: Path, scenario: str) -> EngineProject:
    made = EngineProject(folder)
    made.agent.say({"text": "first"}, {"text": "second"})
    if scenario == "asked":
        made.criterion("manual")
        return made
    script = made.root / "check.sh"
    script.write_text("#!/bin/sh\necho x >> checks; [ -e passing ]\n")
    script.chmod(0o755)
    (made.root / "passing").touch()  # the second round would be one too many
    made.criterion("test_pass", "./check.sh")
    return made


def facts(folder: Path) -> list[tuple[str, Any, Any]]:
    """Kind, place and iteration of everything journalled; numbers have no gap."""
    storage = SqliteStorage(folder / "data" / "journal.db")
    try:
        [run] = storage.runs(None, 10)
        rows = storage.facts(run.run, 0, 1000)
    finally:
        storage.close()
    assert [row.seq for row in rows] == list(range(1, len(rows) + 1))
    bodies = [(row.kind, json.loads(row.body)) for row in rows]
    return [(kind, body.get("place"), body.get("iteration")) for kind, body in bodies]


@pytest.fixture(scope="module")
def unharmed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[tuple[str, Any, Any]]]:
    found = {}
    for scenario in KINDS:
        folder = tmp_path_factory.mktemp(scenario)
        project(folder, scenario)
        assert live(folder) == 0
        found[scenario] = facts(folder)
    return found


def test_every_kind_of_such_a_loop_has_its_case(unharmed: dict[str, list[tuple[str, Any, Any]]]) -> None:
    assert {fact[0] for told in unharmed.values() for fact in told} == {kind for _, kind, _ in CASES}


@pytest.mark.parametrize(("scenario", "kind", "when"), CASES)
def test_a_killed_engine_pays_no_answer_twice(
    tmp_path: Path, unharmed: dict[str, list[tuple[str, Any, Any]]], scenario: str, kind: str, when: str
) -> None:
    made = project(tmp_path, scenario)
    assert live(tmp_path, kind, when) == -signal.SIGKILL
    asked = tmp_path / "asked"
    before = asked.read_text() if asked.exists() else None
    assert live(tmp_path) == 0
    told, expected = Counter(facts(tmp_path)), Counter(unharmed[scenario])
    again = told - expected
    assert {name for name, _, _ in again} <= {"recovered", "iteration_started"}
    assert sum(again.values()) <= 2
    assert not expected - told
    assert len(made.agent.calls) == (2 if (kind, when) == ("call", "before") else 1)  # the one in progress
    if scenario == "tested":
        checks = (made.root / "checks").read_text().count("x")
        assert checks == (2 if (kind, when) == ("judged", "before") else 1)
    if before is not None:
        assert asked.read_text() == before  # the same question, by the same id
