"""Loops that end when a command succeeds."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest

from loop_ls.contract.endings import status_of
from loop_ls.engine.judges.test_command import Command, CommandResult, failing_tests, words_of
from loop_ls.formats.assistant.model import Criteria
from loop_ls.formats.assistant.read import read_assistant
from loop_ls.testing.clock import made_to_jump
from tests.engine.assistants.support.alone import ran
from tests.engine.assistants.support.project import EngineProject
from tests.processes.ended import all_gone

ENVIRON = {"PATH": os.environ["PATH"]}


def script(folder: Path, text: str, name: str = "check.sh", mode: int = 0o755) -> str:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(mode)
    return str(path)


async def check(value: str, folder: Path, limit: float = 30, environ: dict[str, str] | None = None) -> CommandResult:
    return await Command(words_of(value), str(folder), limit, environ or ENVIRON).run()


def lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


async def lines_of(path: Path) -> list[str]:
    async with asyncio.timeout(60):
        while not lines(path) or not path.read_text().endswith("\n"):
            await asyncio.sleep(0.005)
    return lines(path)


async def over_its_limit(program: str, folder: Path, started: Path) -> CommandResult:
    """The check of a program that takes longer than an hour, which passes once the program has begun."""
    jump = made_to_jump(asyncio.get_running_loop())
    checking = asyncio.create_task(check(program, folder, limit=3600))
    await lines_of(started)
    jump(3600)
    return await checking


async def test_AB_044_a_command_that_succeeds_completes_with_the_whole_output(project: EngineProject) -> None:
    project.criterion("test_pass", "true")
    project.agent.say({"text": "x" * 400})
    facts = await project.run()
    assert (facts.end["reason"], facts.end["finalOutput"]) == ("condition_met", "x" * 400)
    assert facts.end["totalIterations"] == 1


async def test_AB_045_a_command_that_fails_keeps_going(tmp_path: Path) -> None:
    alone, outcome = await ran(Criteria("test_pass", "false"), root=tmp_path, environ=ENVIRON)
    assert (outcome.reason, len(alone.runner.asked)) == ("max_iterations", 3)


async def test_AB_046_the_third_run_of_a_command_may_succeed(tmp_path: Path) -> None:
    command = script(tmp_path, 'echo x >> count; [ "$(wc -l < count)" -ge 3 ]')
    _, outcome = await ran(Criteria("test_pass", command), most=5, root=tmp_path, environ=ENVIRON)
    assert (outcome.reason, outcome.iterations) == ("condition_met", 3)


async def test_AB_047_a_program_that_is_not_there_keeps_going(tmp_path: Path) -> None:
    alone, outcome = await ran(Criteria("test_pass", "no-such-program"), root=tmp_path, environ=ENVIRON)
    assert (outcome.reason, outcome.failure, len(alone.runner.asked)) == ("max_iterations", None, 3)


async def test_AB_048_a_file_that_may_not_be_run_keeps_going(tmp_path: Path) -> None:
    command = script(tmp_path, "exit 0", mode=0o644)
    _, outcome = await ran(Criteria("test_pass", command), root=tmp_path, environ=ENVIRON)
    assert (outcome.reason, outcome.failure) == ("max_iterations", None)


async def test_AB_049_a_blank_command_keeps_going(tmp_path: Path) -> None:
    _, outcome = await ran(Criteria("test_pass", "   "), root=tmp_path, environ=ENVIRON)
    assert (outcome.reason, outcome.failure) == ("max_iterations", None)


async def test_AB_050_no_shell_sees_the_command(tmp_path: Path) -> None:
    checked = await check("echo $HOME > out.txt", tmp_path)
    assert (checked.passed, checked.output) == (True, "$HOME > out.txt")
    assert list(tmp_path.iterdir()) == []


async def test_AB_051_a_command_is_split_at_blanks(tmp_path: Path) -> None:
    program = script(tmp_path, 'printf "%s|" "$#" "$@"')
    assert (await check(f"  {program}   a   b ", tmp_path)).output == "2|a|b|"
    assert (await check(f'{program} "a b"', tmp_path)).output == '2|"a|b"|'


async def test_AB_052_a_command_that_takes_too_long_is_ended_and_has_not_passed(tmp_path: Path) -> None:
    program = script(tmp_path, "echo $$ > pid; exec sleep 600")
    checked = await over_its_limit(program, tmp_path, tmp_path / "pid")
    assert (checked.passed, checked.told) == (False, "it took longer than 3600 s")
    await all_gone(int(lines(tmp_path / "pid")[0]))


async def test_AB_053_a_command_that_ends_well_after_its_limit_has_not_passed(tmp_path: Path) -> None:
    program = script(tmp_path, "trap 'exit 0' TERM; echo $$ > pid; while :; do sleep 0.05; done")
    checked = await over_its_limit(program, tmp_path, tmp_path / "pid")
    assert checked.passed is False
    await all_gone(int(lines(tmp_path / "pid")[0]))


async def test_AB_054_grandchildren_are_gone_after_the_limit(tmp_path: Path) -> None:
    program = script(tmp_path, "sleep 600 & echo $! > child; wait")
    checked = await over_its_limit(program, tmp_path, tmp_path / "child")
    assert checked.passed is False
    await all_gone(int(lines(tmp_path / "child")[0]))


async def test_UP_61_a_check_that_ignores_its_end_is_gone_with_all_it_started(tmp_path: Path) -> None:
    program = script(tmp_path, "trap '' TERM; sleep 600 & echo $! > child; echo $$ > pid; wait; exit 0")
    running = asyncio.create_task(check(program, tmp_path))
    await lines_of(tmp_path / "pid")
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    await all_gone(int(lines(tmp_path / "pid")[0]), int(lines(tmp_path / "child")[0]))


async def test_AB_055_a_command_that_a_signal_ends_has_not_passed(tmp_path: Path) -> None:
    checked = await check(script(tmp_path, "kill -9 $$"), tmp_path)
    assert (checked.passed, checked.told) == (False, "it was ended by signal 9")


async def test_AB_056_the_engine_answers_while_a_command_runs(project: EngineProject) -> None:
    project.criterion("test_pass", script(project.root, f"touch {project.root}/begun; sleep 600"))
    run_id = await project.started()
    async with asyncio.timeout(60):
        while not (project.root / "begun").exists():
            await asyncio.sleep(0.005)
    assert (await project.state(run_id))["status"] == "running"
    assert project.engine is not None
    await project.engine.control("stop", run_id)


async def test_AB_057_a_stop_ends_the_command(project: EngineProject) -> None:
    project.criterion("test_pass", script(project.root, f"sleep 600 & echo $$ $! > {project.root}/pids; wait"))
    run_id = await project.started()
    words = (await lines_of(project.root / "pids"))[0].split()
    assert project.engine is not None
    await project.engine.control("stop", run_id)
    facts = await project.ended(run_id)
    await all_gone(*map(int, words))
    assert facts.end["kind"] == "cancelled"
    assert facts.of("judged") == []


async def test_AB_058_a_command_runs_in_the_workspace(project: EngineProject) -> None:
    script(project.root, "pwd > where")
    project.criterion("test_pass", "./check.sh", maxIterations=1)
    await project.run()
    assert lines(project.root / "where") == [str(project.root)]
    assert project.agent.calls[0]["cwd"] == str(project.root)


async def test_AB_059_a_command_does_not_see_secrets_of_the_engine(tmp_path: Path) -> None:
    program = script(tmp_path, "env")
    environ = ENVIRON | {"DATABASE_URL": "secret-1", "ANTHROPIC_API_KEY": "secret-2", "HOME": "/home/x"}
    output = (await check(program, tmp_path, environ=environ)).output
    assert "HOME=/home/x" in output
    assert "secret" not in output


def test_AB_146_the_limit_of_a_command_is_60_seconds() -> None:
    text = "name: A\npersona: P\nloopEnabled: true\nloopCriteria: {type: test_pass, value: pytest}\n"
    found = read_assistant(text)
    assert not isinstance(found, list)
    assert found.criteria is not None
    assert found.criteria.timeout_seconds == 60


async def test_AB_146_the_limit_of_the_criterion_is_the_one_that_holds(tmp_path: Path) -> None:
    program = script(tmp_path, "exec sleep 600")
    criteria = Criteria("test_pass", program, timeout_seconds=0.3)
    alone, outcome = await ran(criteria, most=1, root=tmp_path, environ=ENVIRON)
    assert outcome.reason == "max_iterations"
    assert alone.recorder.of("judged")[0]["answer"] == "it took longer than 0.3 s"


async def test_exact_words_another_folder_and_the_output_are_extensions(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    code = "import os, sys; print('in', os.path.basename(os.getcwd())); sys.exit(1)"
    criteria = Criteria("test_pass", argv=(sys.executable, "-c", code), cwd="inner", include_output=True)
    alone, _ = await ran(criteria, most=2, root=tmp_path, environ=ENVIRON)
    assert "## Test Output\n```\nin inner\n```" in alone.runner.messages[1]


@pytest.mark.parametrize("ends", ["wait", "exit 0"])
async def test_AB_054_a_daemon_that_keeps_the_output_open_holds_up_nothing(tmp_path: Path, ends: str) -> None:
    program = script(tmp_path, f"echo begun; setsid sleep 600 & echo $! > child; {ends}")
    if ends == "wait":
        checked = await over_its_limit(program, tmp_path, tmp_path / "child")
    else:
        checked = await check(program, tmp_path, limit=100)  # which is less than the daemon takes
    assert (checked.passed, checked.output) == (ends == "exit 0", "begun")
    await all_gone(int(lines(tmp_path / "child")[0]))


async def test_AB_170_the_same_failing_tests_end_a_loop_that_gets_nowhere(tmp_path: Path) -> None:
    """Times and counts differ, the failing tests do not; a test that begins to pass is progress."""
    told = """\
        n=$(cat n 2>/dev/null || echo 0); n=$((n+1)); echo $n > n
        echo "tests/test_a.py F. [$n%]"
        test $n -gt 1 || echo "FAILED tests/test_a.py::test_first - took $n s"
        echo "FAILED tests/test_a.py::test_second - took $n s"
        echo "2 failed in 0.$n s"; exit 1"""
    command = script(tmp_path, told)
    said = ("one thing", "quite another thing", "something else again", "the last word")
    criteria = Criteria("test_pass", command)
    alone, outcome = await ran(criteria, *said, most=9, root=tmp_path, environ=ENVIRON, unchanged=3)
    assert (outcome.reason, len(alone.runner.asked)) == ("stuck", 4)
    assert outcome.because == (
        "`Fixer` made no progress: 3 times in a row the same tests failed: tests/test_a.py::test_second."
    )
    warned = [fact["message"] for fact in alone.recorder.of("warning") if fact["code"] == "stuck"]
    assert warned == ["2 times in a row the same tests failed: tests/test_a.py::test_second"]
    assert status_of("stuck") == "completed"


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("FAILED tests/a.py::test_b - assert 1 == 2", "tests/a.py::test_b"),
        ("FAIL: test_b (tests.a.Case)", "test_b (tests.a.Case)"),
        ("    --- FAIL: TestB (0.01s)", "TestB"),
        ("  ✕ adds numbers (5 ms)", "adds numbers"),
        ("not ok 3 - adds numbers", "adds numbers"),
        ("test sums::adds ... FAILED", "sums::adds"),
        ("FAILURE IS NO OPTION", None),
    ],
)
def test_AB_170_failing_tests_are_read_from_what_test_programs_print(line: str, name: str | None) -> None:
    assert failing_tests(f"first\n{line}\nlast") == (() if name is None else (name,))
