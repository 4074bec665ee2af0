"""`engine worker` and the database that engines share, from the command line."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from loop_ls.cli.engine.database import VARIABLE, DatabaseRefused, database_of


def worker(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-P", "-m", "loop_ls", "engine", "worker", *arguments],
        env={**{name: value for name, value in os.environ.items() if name != VARIABLE}, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.fixture(autouse=True)
def _no_database(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)


def test_a_worker_without_a_database_says_what_it_needs() -> None:
    done = worker()
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == (
        f"loop-ls engine: A worker needs a shared database.\nloop-ls engine: Pass `--database-url` or set {VARIABLE}.\n"
    )


def test_a_worker_whose_database_does_not_answer_says_so_without_the_password() -> None:
    done = worker(**{VARIABLE: "postgresql://me:secret@127.0.0.1:9/runs"})
    assert done.returncode == 2
    assert "The database at 127.0.0.1:9/runs cannot be reached." in done.stderr
    assert "secret" not in done.stderr + done.stdout


def test_an_address_of_another_kind_is_refused() -> None:
    with pytest.raises(DatabaseRefused) as refused:
        database_of("mysql://here/x", None)
    assert "postgresql://" in refused.value.hint


@pytest.mark.parametrize(
    ("setting", "fine"),
    [
        ("postgresql://me@localhost/runs", True),
        ("postgresql://me@127.0.0.1:5432/runs", True),
        ("postgresql:///runs?host=/run/postgresql", True),
        ("postgresql://me@db.example.com/runs", False),
        ("postgresql:///runs?host=db.example.com", False),
        ("postgresql://localhost/runs?hostaddr=192.0.2.1", False),
        ("postgresql://me:of-%40-me@[::1]:5432/runs?connect_timeout=3", True),
        ("postgresql://me@127.0.0.1,db.example.com/runs", False),
        # Other readers of addresses take these for this machine.
        ("postgresql://localhost#@db.example.com/runs", False),
        ("postgresql://localhost?x@db.example.com/runs", False),
        ("postgresql://localhost:1,db.example.com:5432/runs", False),
        ("postgresql://me@db.example.com:5432,@localhost/runs", False),
        ("postgresql://localhost:5432/x@db.example.com/runs", False),
        ("postgresql:///runs?host=/tmp,db.example.com", False),
        ("postgresql:///runs?host=%2Ftmp%2Cdb.example.com", False),
        ("postgresql:///runs?host=db.example.com&host=/tmp", False),
        ("postgresql:///runs?service=elsewhere", False),
        ("host=localhost hostaddr=192.0.2.1", False),
    ],
)
def test_a_cloned_project_cannot_send_its_runs_to_a_stranger(tmp_path: Path, setting: str, fine: bool) -> None:
    (tmp_path / ".loop-ls.yaml").write_text(f"engine:\n  databaseUrl: '{setting}'\n")
    if fine:
        assert database_of(None, tmp_path) == setting
        return
    with pytest.raises(DatabaseRefused) as refused:
        database_of(None, tmp_path)
    assert VARIABLE in refused.value.hint


def test_what_a_person_says_wins_over_the_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".loop-ls.yaml").write_text("engine: {databaseUrl: 'postgresql://me@db.example.com/runs'}\n")
    monkeypatch.setenv(VARIABLE, "postgresql://mine/runs")
    assert database_of(None, tmp_path) == "postgresql://mine/runs"
    assert database_of("postgresql://given/runs", tmp_path) == "postgresql://given/runs"
    monkeypatch.delenv(VARIABLE)
    assert database_of(None, None) is None
