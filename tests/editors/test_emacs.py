"""A person in Emacs, with eglot or lsp-mode and the set-ups of the documentation: the same things as elsewhere."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import installed
from editors_flow import write_flow, write_helper

HERE = Path(__file__).parent
LIMIT = 180

Said = list[tuple[str, str]]
Batch = Callable[..., Said]


@pytest.fixture
def batch(editor_environment: dict[str, str]) -> Batch:
    def run(session: str, setup: str, file: Path, **more: str) -> Said:
        """What a session printed, up to its last line."""
        environment = {**editor_environment, "EMACS_SETUP": str(HERE / setup), "EMACS_FILE": str(file), **more}
        done = subprocess.run(
            [installed("emacs"), "--batch", "-Q", "-l", str(HERE / session)],
            env=environment,
            capture_output=True,
            text=True,
            timeout=LIMIT,
            check=False,
        )
        lines = [one.partition(": ") for one in done.stdout.splitlines() if ": " in one]
        said = [(name, value) for name, _, value in lines]
        assert ("done", "yes") in said, done.stdout + done.stderr
        return said

    return run


def test_emacs_shows_offers_renames_runs_and_reads(batch: Batch, tmp_path: Path) -> None:
    said = batch("emacs_session.el", "emacs.el", write_flow(tmp_path / "poems"))
    told = dict(said)
    assert any("[WF702]" in text for name, text in said if name == "diagnostic"), said
    assert "iteration 1: empty" in told["hover"]
    assert "loop.history" in told["completion"]
    assert (told["renamed"], told["used"]) == ("yes", "yes")
    assert told["run"] == "completed condition_met"
    assert "iteration 2 of 5: YES" in told["transcript"]
    assert "old pond" in told["transcript"]


@pytest.mark.parametrize(("answer", "end"), [("Approve", "completed approved"), ("Reject", "failed rejected")])
def test_an_assistant_is_answered_by_a_code_action(batch: Batch, tmp_path: Path, answer: str, end: str) -> None:
    file = write_helper(tmp_path / "poems")
    told = dict(batch("emacs_loops.el", "emacs.el", file, EMACS_ANSWER=answer))
    assert told["asked"] == "message: "
    assert told["told"].startswith("`helper` waits for your decision on iteration 1: old pond")
    assert told["run"] == end
    assert "old pond" in told["transcript"]


def test_lsp_mode_shows_offers_draws_runs_and_reads(batch: Batch, tmp_path: Path) -> None:
    said = batch("emacs_lsp_session.el", "emacs_lsp.el", write_flow(tmp_path / "poems"))
    told = dict(said)
    assert told["servers"] == "(loop-ls)"
    assert ("diagnostic", "WF702") in said
    assert "iteration 1: empty" in told["hover"]
    assert "loop.history" in told["completion"]
    assert told["run"] == "completed condition_met"
    assert "iteration 2 of 5: YES" in told["transcript"]


def test_a_killed_server_is_started_again_and_knows_the_run(batch: Batch, tmp_path: Path) -> None:
    """Emacs asks every 20 ms here, so that the server is never quiet: it finds the run nevertheless."""
    told = dict(batch("emacs_killed.el", "emacs.el", write_flow(tmp_path / "poems")))
    assert "▶ Run workflow again" in told["again"]
