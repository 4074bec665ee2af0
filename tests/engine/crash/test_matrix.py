"""SIGKILL at every kind of fact that a workflow run has, on SQLite and on PostgreSQL.

Each case: a life that kills itself right before or right after the first transaction with that kind, and one
that goes on. Finished calls repeated, facts lost, facts doubled: 0, 0, 0. The witness of calls is the
provider's own log; facts are compared with those of a run that nobody killed.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from loop_ls.engine.journal import SqliteStorage, Storage
from loop_ls.engine.journal.postgres import PostgresStorage
from loop_ls.testing.postgres import PostgresServer

HEAD = '$schema: "workflow/v2.0"\nname: {name}\nversion: "1.0.0"\nexecution: {{provider: acme, model: m}}\n'
MAIN = """steps:
  - {name: prepare, run: "Plan {{input}}"}
  - {name: never, if: "{{prepare}} == 'x'", run: "no"}
  - {name: report, needs: [develop], run: "{{develop}}"}
loops:
  - name: develop
    workflow: cycle
    with: {previous: "{{loop.last.output}}", plan: "{{prepare}}"}
    max_iterations: 6
    until: "The review says PASS"
    on_failure: %s
    max_retries: 2
"""
CYCLE = 'steps:\n  - {name: write, run: "{{previous}}{{input}}"}\n  - {name: review, run: "{{write}}"}\n'

#: scenario -> the kinds that its run has, apart from `recovered`.
KINDS = {
    "met": [
        *("run_started", "step_started", "call", "step_completed", "warning", "step_skipped", "iteration_started"),
        *("paused", "resumed", "iteration", "judged", "step_failed", "iteration_failed", "retrying", "completed"),
    ],
    "failed": ["failed"],
    "stopped": ["stopping", "cancelled"],
    "circles": ["unchanged_output_warning", "budget_warning", "loop_updated"],
}
#: Only a run that was killed has this one.
RECOVERED = ("met", "recovered")
CASES = [(scenario, kind) for scenario, kinds in KINDS.items() for kind in kinds] + [RECOVERED]
TABLE: list[tuple[str, str, str, str, int, int, int]] = []


class ForkServer:
    def __init__(self) -> None:
        argv = [sys.executable, str(Path(__file__).with_name("fork_server.py"))]
        self._process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def live(self, folder: Path, database: str, scenario: str, kind: str = "", when: str = "") -> int:
        order = {"folder": str(folder), "database": database, "scenario": scenario, "kind": kind, "when": when}
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        status = json.loads(self._process.stdout.readline())["status"]
        assert status in (0, -signal.SIGKILL), (folder / "stderr.log").read_text()
        return int(status)

    def close(self) -> None:
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait(60)


@pytest.fixture(scope="module")
def fork_server() -> Iterator[ForkServer]:
    made = ForkServer()
    yield made
    made.close()
    if os.environ.get("LOOP_LS_CRASH_TABLE"):
        Path(os.environ["LOOP_LS_CRASH_TABLE"]).write_text(table())


@pytest.fixture(scope="module")
def whole(fork_server: ForkServer, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Counter[Any]]:
    """scenario -> the facts of a run that nobody killed."""
    found = {}
    for scenario in KINDS:
        folder = project(tmp_path_factory.mktemp(scenario), scenario)
        assert fork_server.live(folder, "", scenario) == 0
        found[scenario] = facts(SqliteStorage(folder / "data" / "journal.db"))
    return found


def project(folder: Path, scenario: str) -> Path:
    (folder / "project").mkdir()
    main = HEAD.format(name="main") + MAIN % ("halt" if scenario == "failed" else "retry")
    (folder / "project" / "main.yaml").write_text(main)
    (folder / "project" / "cycle.yaml").write_text(HEAD.format(name="cycle") + CYCLE)
    return folder


def facts(storage: Storage) -> Counter[Any]:
    """What each fact is about; also checks that their numbers have no gap."""
    (run,) = storage.runs(None, 9)
    rows = storage.facts(run.run, 0, 9999)
    storage.close()
    assert [row.seq for row in rows] == list(range(1, len(rows) + 1))
    bodies = [(row.kind, json.loads(row.body)) for row in rows]
    about = ("place", "step", "iteration", "attempt", "verdict", "purpose")
    return Counter((kind, *(body.get(name) for name in about)) for kind, body in bodies)


def answered(storage: Storage) -> set[str]:
    runs = storage.runs(None, 9)
    found = storage.keys(runs[0].run)[0] if runs else set()
    storage.close()
    return found


def key_of(place: str) -> str:
    """Steps are asked under a key of their own, judges under that of their place."""
    return place if ":" in place else f"{place}:ask"


def test_the_table_below_has_every_kind(whole: dict[str, Counter[Any]]) -> None:
    for scenario, kinds in KINDS.items():
        assert {fact[0] for fact in whole[scenario]} >= set(kinds)
    every = {fact[0] for found in whole.values() for fact in found} | {"recovered"}
    assert every == {kind for _, kind in CASES}


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize(("scenario", "kind"), CASES, ids=[kind for _, kind in CASES])
@pytest.mark.parametrize("backend", ["sqlite", pytest.param("postgres", marks=pytest.mark.long)])
def test_a_kill_loses_doubles_and_repeats_nothing(
    fork_server: ForkServer,
    whole: dict[str, Counter[Any]],
    tmp_path: Path,
    request: pytest.FixtureRequest,
    backend: str,
    scenario: str,
    kind: str,
    when: str,
) -> None:
    server: PostgresServer | None = request.getfixturevalue("postgres") if backend == "postgres" else None
    database = server.database() if server else ""
    folder = project(tmp_path, scenario)

    def storage() -> Storage:
        return PostgresStorage(database) if database else SqliteStorage(folder / "data" / "journal.db")

    if kind == "recovered":
        assert fork_server.live(folder, database, scenario, "judged", "after") == -signal.SIGKILL
    assert fork_server.live(folder, database, scenario, kind, when) == -signal.SIGKILL
    finished = answered(storage())
    assert fork_server.live(folder, database, scenario) == 0
    found = facts(storage())
    recovered = {fact: count for fact, count in found.items() if fact[0] == "recovered"}
    lost, extra = whole[scenario] - found, found - whole[scenario] - Counter(recovered)
    log = folder / "requests.log"
    asked = Counter(log.read_text().split()) if log.exists() else Counter[str]()
    repeated = [place for place, count in asked.items() if count > 1 and key_of(place) in finished]
    TABLE.append((backend, scenario, kind, when, len(repeated), sum(lost.values()), sum(extra.values())))
    assert (repeated, lost, extra) == ([], Counter(), Counter())
    # The call in flight; on a very busy machine a lease may end once more.
    assert sum(count - 1 for count in asked.values()) <= max(1, sum(recovered.values()))


def table() -> str:
    """Cases and what went wrong in them, for a report."""
    lines = ["| fact | SQLite: repeated, lost, doubled | PostgreSQL: repeated, lost, doubled |", "|---|---|---|"]
    for scenario, kind in CASES:
        cells = []
        for backend in ("sqlite", "postgres"):
            rows = [row[4:] for row in TABLE if row[:3] == (backend, scenario, kind)]
            sums = [sum(column) for column in zip(*rows, strict=True)] if rows else ["-"] * 3
            cells.append(f"{sums[0]}, {sums[1]}, {sums[2]} ({len(rows)} kills)")
        lines.append(f"| {kind} | {cells[0]} | {cells[1]} |")
    return "\n".join(lines) + "\n"
