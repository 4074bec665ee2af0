"""The pause of an enhance loop, on the terminal that follows it and on others."""

from __future__ import annotations

import json
import os
import signal
import subprocess

import pytest

from tests.cli.commands.test_enhance import ANSWERS, BROKEN, MENDED, status
from tests.cli.conftest import SCRIPT, CliProject
from tests.cli.terminal import Terminal

QUESTION = "[s]top? "


@pytest.fixture
def report(alone: CliProject) -> CliProject:
    alone.write("report.yaml", BROKEN)
    alone.write("report.answers.yaml", ANSWERS)
    alone.write(".loop-ls.yaml", "enhance: {pauseBetweenRounds: true}\n")
    return alone


def asked(project: CliProject) -> Terminal:
    terminal = Terminal(project, "enhance", "report.yaml", "--input", "tea")
    terminal.until(lambda seen: QUESTION in seen)
    return terminal


def run_id(project: CliProject) -> str:
    return str(json.loads(project.call("runs", "--json").stdout)["runs"][0]["runId"])


def text(project: CliProject) -> str:
    return (project.root / "report.yaml").read_text()


def test_ctrl_c_at_the_pause_stops_the_loop_and_leaves_the_file(report: CliProject) -> None:
    terminal = asked(report)
    os.kill(terminal.process.pid, signal.SIGINT)
    assert terminal.end() == 5
    assert "■ stopped in round 1" in terminal.seen
    assert text(report) == BROKEN


def test_an_answer_from_elsewhere_ends_the_question_and_says_from_where(report: CliProject) -> None:
    terminal = asked(report)
    assert report.call("enhance", "--continue", run_id(report)).returncode == 0
    assert terminal.end() == 0
    assert "answered elsewhere by the command line" in terminal.seen
    assert text(report) == MENDED


def test_a_file_that_is_half_typed_is_asked_about_on_the_same_terminal(report: CliProject) -> None:
    terminal = asked(report)
    report.write("report.yaml", BROKEN + "  - name: [\n")
    terminal.type(b"c\n")
    terminal.until(lambda seen: seen.count(QUESTION) == 2)
    assert "cannot be run: line 15" in terminal.seen
    report.write("report.yaml", BROKEN)
    terminal.type(b"c\n")
    assert terminal.end() == 0
    assert text(report) == MENDED


def test_a_loop_whose_engine_was_killed_in_the_pause_is_answered_elsewhere(report: CliProject) -> None:
    started = json.loads(report.call("enhance", "report.yaml", "--input", "tea", "--detach", "--json").stdout)["runId"]
    status(report, started, "awaiting user")
    run = started[:6]
    told = f"  answer    `loop-ls enhance --continue {run}`, `--skip {run}` or `--stop {run}`"
    assert told in report.call("runs", "show", started).stdout
    pid = report.engine_pid()
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    assert report.call("enhance", "--continue", started).returncode == 0
    report.call("runs", "events", started, "--follow")
    assert "converged" in report.call("enhance", "--status", started).stdout
    late = report.call("enhance", "--skip", started)
    assert (late.returncode, "The first answer was `continue`, given on the command line" in late.stderr) == (2, True)
    assert text(report) == MENDED


@pytest.mark.parametrize("closed", ["<&-", "<&- 2>&-"])
def test_where_streams_are_closed_nobody_can_answer_and_the_run_ends(report: CliProject, closed: str) -> None:
    line = f'exec "$0" enhance report.yaml --input tea --json {closed}'
    done = subprocess.run(
        ["sh", "-c", line, str(SCRIPT)], cwd=report.root, env=report.env(), capture_output=True, text=True, timeout=90
    )
    assert done.returncode == 5, done.stderr
    assert json.loads(done.stdout)["status"] == "cancelled"
