"""The table of runs: success, limit, failure and waiting look different; colours only on a terminal."""

from __future__ import annotations

import io
from datetime import UTC, datetime
from typing import Any

import pytest

from loop_ls.cli.runs.runs_table import outcome, since, table
from loop_ls.report.terminal_text import width

NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def state(**more: Any) -> dict[str, Any]:
    usual = {"runId": "7f3a19c2d4e5", "name": "develop_it", "status": "running", "elapsedMs": 61_000}
    return {**usual, "iteration": 2, "maxIterations": 5, "startedAt": "2026-03-01T11:57:00.000Z", **more}


@pytest.mark.parametrize(
    ("status", "reason", "said"),
    [
        ("running", None, "● running"),
        ("waiting_approval", None, "? waits for you"),
        ("paused", "user", "◉ paused"),
        ("completed", "condition_met", "✓ condition met"),
        ("completed", "max_iterations", "◼ limit reached, condition not met"),
        ("completed", "budget", "◼ budget used up"),
        ("failed", "error", "✗ failed"),
        ("failed", "timeout", "✗ timed out"),
        ("failed", "success_rate_not_met", "✗ success rate not met"),
        ("blocked", "blocked", "✗ blocked"),
        ("cancelled", "user", "■ stopped"),
        ("completed", "a_new_reason", "◼ a new reason"),
    ],
)
def test_UP_81_how_a_run_stands(status: str, reason: str | None, said: str) -> None:
    assert outcome({"status": status, "reason": reason}) == said


@pytest.mark.parametrize(
    ("moment", "said"),
    [
        ("2026-03-01T11:59:58Z", "just now"),
        ("2026-03-01T11:30:00Z", "30 min ago"),
        ("2026-03-01T03:00:00Z", "9 h ago"),
        ("2026-02-25T12:00:00Z", "4 d ago"),
        ("2026-03-01T12:00:30Z", "just now"),
        (None, ""),
    ],
)
def test_when_it_began(moment: str | None, said: str) -> None:
    assert since(moment, NOW) == said


def test_a_pipe_gets_no_colour_and_whole_lines() -> None:
    out = io.StringIO()
    table([state(name="a_rather_long_name_of_a_workflow", costUsd=0.031)], out, NOW)
    head, row = out.getvalue().splitlines()
    assert head.split() == ["ID", "NAME", "STATUS", "ITERATION", "COST", "TIME", "STARTED"]
    assert row == "7f3a19  a_rather_long_name_of_a_workflow  ● running  2/5        $0.031  01:01  3 min ago"
    assert [head.index(word) for word in ("STATUS", "COST")] == [row.index("●"), row.index("$")]


def test_a_terminal_gets_colours_unless_it_must_not(monkeypatch: Any) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    out = Terminal()
    table([state(status="failed", reason="error")], out, NOW)
    assert "\x1b[1;31m✗ failed\x1b[0m" in out.getvalue()
    for name, value in (("NO_COLOR", "1"), ("TERM", "dumb")):
        with monkeypatch.context() as patch:
            patch.setenv(name, value)
            out = Terminal()
            table([state()], out, NOW)
            assert "\x1b" not in out.getvalue()


@pytest.mark.parametrize("columns", [60, 80, 200])
def test_lines_fit_the_terminal(monkeypatch: Any, columns: int) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", str(columns))
    out = Terminal()
    table([state(name="x" * 38), state(name="短い名前の長い流れ")], out, NOW)
    lines = out.getvalue().splitlines()
    assert max(map(width, lines)) <= max(columns, 78)
    assert len({width(line) for line in lines[1:]}) == 1, "wide letters do not shift columns"


def test_names_that_a_terminal_would_obey_are_shown_harmless() -> None:
    out = io.StringIO()
    table([state(name="\x1b]0;gone\x07", user="\x1b[31m")], out, NOW)
    assert "\x1b" not in out.getvalue() and "\x07" not in out.getvalue()
    assert out.getvalue().splitlines()[0].endswith("USER")
