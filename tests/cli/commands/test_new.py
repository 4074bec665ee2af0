"""`loop-ls new`: what it writes checks clean in every profile that is on by default, and runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from loop_ls.cli.commands.new import KINDS, snake
from loop_ls.cli.main import main


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_written_checks_clean(here: Path, kind: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["new", kind, "my_first"]) == 0
    printed = capfd.readouterr().out.splitlines()
    for path in KINDS[kind].values():
        assert path.format(name="my_first") in printed
    assert main(["check", "--format", "json"]) == 0
    data = json.loads(capfd.readouterr().out)
    assert data["findings"] == []
    assert data["files"] == len(KINDS[kind])


def test_all_kinds_go_together_in_one_workspace(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for kind in KINDS:
        assert main(["new", kind, kind.replace("-", "_"), "--into", "deep/er"]) == 0
    capfd.readouterr()
    assert main(["check", "deep", "--format", "json"]) == 0
    assert json.loads(capfd.readouterr().out)["findings"] == []


def test_nothing_is_written_over(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (here / "mine_draft.yaml").write_text("mine")
    assert main(["new", "loop", "mine"]) == 2
    assert "mine_draft.yaml exists already" in capfd.readouterr().err
    assert not (here / "mine.yaml").exists()
    assert (here / "mine_draft.yaml").read_text() == "mine"


@pytest.mark.parametrize(("name", "better"), [("MyLoop", "my_loop"), ("a-b", "a_b"), ("../up", "up"), ("1x", "x")])
def test_a_name_that_is_none_gets_a_better_one(
    here: Path, name: str, better: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["new", "workflow", name]) == 2
    assert f"; {better} would be one" in capfd.readouterr().err
    assert snake(name) == better
    assert list(here.iterdir()) == []


def test_a_name_that_no_file_can_have_is_one_sentence(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["new", "workflow", "x" * 300]) == 2
    assert capfd.readouterr().err.startswith("loop-ls: . cannot be written: ")


def test_a_missing_name_is_asked_for(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["new", "loop"]) == 2
    assert "such as my_loop" in capfd.readouterr().err
    assert main(["new", "settings"]) == 0


@pytest.mark.parametrize("kind", ["workflow", "loop"])
def test_what_is_written_runs_with_mock(alone: Any, kind: str) -> None:
    assert alone.call("new", kind, "fresh").returncode == 0
    ended = alone.call("run", "fresh.yaml", "--mock", "--input", "a wish")
    assert ended.returncode == 0, ended.stdout + ended.stderr
