"""Watching through a real terminal: the picture, Ctrl-C, and an engine that is killed in between."""

from __future__ import annotations

import os
import re
import signal
import time

import pytest

from tests.cli.conftest import ANSWERS, DEVELOP, CliProject
from tests.cli.terminal import LONG, Terminal


def drafts(first: float, second: float) -> str:
    """The answers, with the seconds that the first two drafts take."""
    one, two = f"{{text: draft one, delay: {first:g}}}", f"{{text: draft two, delay: {second:g}}}"
    return ANSWERS.replace('"draft one", "draft two"', f"{one}, {two}")


@pytest.fixture
def slow(alone: CliProject) -> CliProject:
    alone.write("develop.answers.yaml", drafts(1.5, 1.5))  # a dozen pictures of each
    return alone


def test_the_picture_moves_and_the_result_stays(slow: CliProject) -> None:
    terminal = Terminal(slow, "run", "develop.yaml", "--input", "ships")
    terminal.until(lambda seen: "iteration 1/5" in seen)
    terminal.until(lambda seen: "iteration 2/5" in seen and "NO" in seen)
    assert terminal.end() == 0
    last = terminal.seen
    assert "✓ develop  condition met in iteration 3" in last
    assert last.rstrip().endswith("the report")
    assert b"\x1b[" in terminal.raw, "a terminal gets colours"


def test_ctrl_c_stops_the_run_and_says_what_is_kept(slow: CliProject) -> None:
    slow.write("develop.answers.yaml", drafts(0, 60))
    terminal = Terminal(slow, "run", "develop.yaml", "--input", "ships", "--verbose")
    terminal.until(lambda seen: "-> NO" in seen)
    os.kill(terminal.process.pid, signal.SIGINT)
    assert terminal.end() == 5
    seen = terminal.seen
    assert "■ stopped" in seen
    assert "Kept: 1 iteration with output and verdict." in seen
    assert re.search(r"Show: loop-ls runs show [0-9a-f]{6}", seen)
    assert "■ stopped" in slow.call("runs").stdout


def test_a_missing_input_is_asked_for(slow: CliProject) -> None:
    slow.write("develop.answers.yaml", ANSWERS)
    terminal = Terminal(slow, "run", "develop.yaml")
    terminal.until(lambda seen: "input: " in seen)
    terminal.type(b"ships\n")
    assert terminal.end() == 0
    assert "the report" in terminal.seen


def test_ctrl_c_at_a_question_ends_the_command(slow: CliProject) -> None:
    terminal = Terminal(slow, "run", "develop.yaml")
    terminal.until(lambda seen: "input: " in seen)
    os.kill(terminal.process.pid, signal.SIGINT)
    assert terminal.end() == 130
    assert "Traceback" not in terminal.seen


def test_a_killed_engine_comes_back_and_nothing_is_done_twice(alone: CliProject) -> None:
    """Plain output, engine killed in iteration 2: the command starts it again and sees the end."""
    alone.write("develop.answers.yaml", drafts(0, 3))
    watching = alone.popen("run", "develop.yaml", "--input", "ships")
    assert watching.stderr
    for line in watching.stderr:
        if line.startswith("develop 1/5"):
            break
    pid = alone.engine_pid()
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    out, rest = watching.communicate(timeout=LONG)
    assert (watching.returncode, out) == (0, "the report\n"), rest
    lines = rest.splitlines()
    assert [line.split("  ")[0] for line in lines if line.startswith("develop ")] == ["develop 2/5", "develop 3/5"]
    assert any("recovered after a restart" in line for line in lines)
    assert any("lost the connection to the engine" in line for line in lines)
    assert alone.engine_pid() != pid


@pytest.mark.parametrize("seen", ["develop 1/5", None], ids=["listening", "before it listens"])
def test_UP_59_a_watcher_that_is_killed_does_not_keep_its_run(alone: CliProject, seen: str | None) -> None:
    """Nor do commands that ask for the list again and again, more often than the grace time is long."""
    alone.write("develop.answers.yaml", drafts(0, 300))
    started = alone.call("engine", "start", RONDOFLOW_TEARDOWN_GRACE_MS="300")
    assert started.returncode == 0, started.stderr
    watching = alone.popen("run", "develop.yaml", "--input", "ships")
    if seen is None:
        deadline = time.monotonic() + LONG
        while "develop_it" not in alone.call("runs").stdout:
            assert time.monotonic() < deadline
    else:
        assert watching.stderr
        assert any(line.startswith(seen) for line in watching.stderr), "it follows its run"
    watching.kill()
    watching.wait(LONG)
    deadline = time.monotonic() + LONG
    while '"reason": "teardown"' not in alone.call("runs", "--json").stdout:
        assert time.monotonic() < deadline


def test_UP_59_a_run_that_goes_on_after_a_crash_of_the_engine_waits_for_its_watcher_again(alone: CliProject) -> None:
    alone.write("develop.answers.yaml", drafts(0, 300))
    watching = alone.popen("run", "develop.yaml", "--input", "ships")
    assert watching.stderr
    assert any(line.startswith("develop 1/5") for line in watching.stderr), "it follows its run"
    watching.kill()
    watching.wait(LONG)
    os.kill(alone.engine_pid(), signal.SIGKILL)
    started = alone.call("engine", "start", RONDOFLOW_TEARDOWN_GRACE_MS="300")
    assert started.returncode == 0, started.stderr
    deadline = time.monotonic() + LONG
    while '"reason": "teardown"' not in alone.call("runs", "--json").stdout:
        assert time.monotonic() < deadline


def test_a_detached_run_is_nobodys_to_end(alone: CliProject) -> None:
    alone.write("slow.yaml", DEVELOP.replace("develop_it", "slow_it"))
    alone.write("slow.answers.yaml", "delay: 600\n" + ANSWERS)
    alone.write("develop.answers.yaml", drafts(0, 300))
    assert alone.call("engine", "start", RONDOFLOW_TEARDOWN_GRACE_MS="100").returncode == 0
    assert alone.call("run", "slow.yaml", "--input", "x", "--detach").returncode == 0
    watching = alone.popen("run", "develop.yaml", "--input", "ships")
    assert watching.stderr
    assert any(line.startswith("develop 1/5") for line in watching.stderr), "it follows its run"
    watching.kill()
    watching.wait(LONG)
    deadline = time.monotonic() + LONG
    while '"reason": "teardown"' not in alone.call("runs", "--json").stdout:
        assert time.monotonic() < deadline
    active = alone.call("runs", "--status", "active").stdout
    assert re.search(r"slow_it +● running", active)
    assert "develop_it" not in active
