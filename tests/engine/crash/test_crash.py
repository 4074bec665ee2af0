"""SIGKILL in iteration 3 of 5, at named points, in a real process: what was finished is never paid again.

The witness is the provider's own log of requests; facts are checked for gaps and doubles as the journal
holds them and as a listener that came back heard them.
"""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.processes import forked

CHILD = "tests.engine.crash.child"
HEAD = '$schema: "workflow/v2.0"\nname: {name}\nversion: "1.0.0"\nexecution: {{provider: ollama, model: m}}\n'
MAIN = """loops:
  - name: develop
    workflow: cycle
    with: {previous: "{{loop.last.output}}", history: "{{loop.history}}"}
    max_iterations: 5
    until: "The review says PASS"
steps:
  - {name: report, run: "{{develop}}"}
"""
CYCLE = 'steps:\n  - {name: write, run: "{{previous}}{{history}}{{input}}"}\n  - {name: review, run: "{{write}}"}\n'
CALLS = [f"develop/{n}{part}" for n in range(1, 6) for part in ("/write", "/review", ":judge")] + ["report"]


class CrashScenario:
    def __init__(self, folder: Path) -> None:
        self.folder, project = folder, folder / "project"
        project.mkdir()
        (project / "main.yaml").write_text(HEAD.format(name="main") + MAIN)
        (project / "cycle.yaml").write_text(HEAD.format(name="cycle") + CYCLE)

    def run(self, **crash: str) -> int:
        environment = {**os.environ, **{f"CRASH_{name.upper()}": at for name, at in crash.items()}}
        words = [sys.executable, "-m", CHILD, str(self.folder)]
        done = forked.run(words, 60, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert done.stdout == b""
        assert done.returncode in (0, -signal.SIGKILL), done.stderr.decode()
        return done.returncode

    @property
    def requests(self) -> Counter[str]:
        return Counter((self.folder / "requests.log").read_text().split())

    @property
    def heard(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (self.folder / "heard.log").read_text().splitlines()]

    def facts(self) -> list[tuple[int, str, dict[str, Any]]]:
        db = sqlite3.connect(self.folder / "data" / "journal.db")
        rows = db.execute("select seq, kind, body from fact order by position").fetchall()
        return [(seq, kind, json.loads(body)) for seq, kind, body in rows]

    def check(self) -> None:
        """No gap, no double, and every iteration and verdict once."""
        facts = self.facts()
        assert [seq for seq, _, _ in facts] == list(range(1, len(facts) + 1))
        kinds = Counter(kind for _, kind, _ in facts)
        assert (kinds["iteration"], kinds["judged"], kinds["completed"], kinds["run_started"]) == (5, 5, 1, 1)
        assert kinds["step_completed"] == 5 * 2 + 2
        assert [event["seq"] for event in self.heard] == list(range(1, len(facts) + 1))
        assert facts[-1][2]["reason"] == "condition_met"
        assert set(self.requests) == set(CALLS)

    def recovered(self) -> dict[str, Any]:
        return next(body for _, kind, body in self.facts() if kind == "recovered")


#: Call -> the one behind it, as it is recorded.
NEXT = {"develop/3/write": "develop/3/review:ask", "develop/3:judge": "develop/4/write:ask"}


@pytest.fixture
def scene(tmp_path: Path) -> CrashScenario:
    return CrashScenario(tmp_path)


@pytest.mark.parametrize("key", ["develop/3/write", "develop/3:judge"])
@pytest.mark.parametrize(
    ("point", "paid", "in_flight"),
    [
        ("before", 1, False),
        ("begun", 1, True),
        ("in_flight", 2, True),
        ("answered", 2, True),
        ("committed", 1, False),
    ],
)
def test_a_kill_repeats_at_most_the_call_in_flight_and_says_so(
    scene: CrashScenario, point: str, paid: int, in_flight: bool, key: str
) -> None:
    assert scene.run(at=point, call=key) == -signal.SIGKILL
    assert scene.run() == 0
    scene.check()
    assert scene.requests == Counter({call: paid if call == key else 1 for call in CALLS})
    recovered = scene.recovered()
    recorded = key if ":" in key else f"{key}:ask"
    if point == "committed":  # the call behind it may have begun by then: nothing of it was sent
        assert set(recovered["inFlight"]) <= {NEXT[key]}
        assert recovered["mayHavePaidTwice"] is bool(recovered["inFlight"])
    else:
        assert (recovered["inFlight"], recovered["mayHavePaidTwice"]) == ([recorded] if in_flight else [], in_flight)


def test_a_kill_while_paused_repeats_nothing_and_the_run_comes_back_paused(scene: CrashScenario) -> None:
    assert scene.run(at="paused", call="develop/3/write") == -signal.SIGKILL
    assert scene.run() == 0
    scene.check()
    assert scene.requests == Counter(dict.fromkeys(CALLS, 1))
    assert json.loads((scene.folder / "came_back.log").read_text())["iteration"] == 3
    assert scene.recovered()["mayHavePaidTwice"] is False


def test_an_engine_that_leaves_in_order_leaves_its_runs_to_the_next_one(scene: CrashScenario) -> None:
    assert scene.run(at="leave", call="develop/3/write") == 0
    assert scene.facts()[-1][1] not in ("completed", "failed", "cancelled")
    assert scene.run() == 0
    scene.check()
    assert scene.recovered()["inFlight"] == ["develop/3/write:ask"]
    assert scene.requests["develop/3/write"] == 2


def test_a_kill_after_every_transaction_ends_in_the_same_run(scene: CrashScenario) -> None:
    """One kill after the other, each behind the answer of a later call: the run crawls to its end."""
    for key in CALLS[1:7:2]:
        assert scene.run(at="committed", call=key) == -signal.SIGKILL
    assert scene.run() == 0
    scene.check()
    assert scene.requests == Counter(dict.fromkeys(CALLS, 1))
