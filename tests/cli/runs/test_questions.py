"""What a run asks a person is asked on the terminal that follows it, and answered there."""

from __future__ import annotations

import json
import os
import signal

import pytest

from tests.cli.conftest import CliProject
from tests.cli.runs.test_decisions import ASSISTANT, guarded, state
from tests.cli.terminal import Terminal

LINES = "\\n".join(f"line {number}" for number in range(1, 13))
SETTINGS = f'providers: {{openai: {{kind: scripted, script: [{{say: ["{LINES}", draft two]}}]}}}}\n'


@pytest.fixture
def writer(alone: CliProject) -> CliProject:
    alone.write("writer.assistant.yaml", ASSISTANT)
    alone.write(".loop-ls.yaml", SETTINGS)
    return alone


def asked(project: CliProject, iteration: int = 1) -> Terminal:
    terminal = Terminal(project, "run", "writer.assistant.yaml", "--input", "Write")
    return waited(terminal, iteration)


def waited(terminal: Terminal, iteration: int) -> Terminal:
    question = f"Writer waits for your decision on iteration {iteration}."
    terminal.until(lambda seen: "[l]ater? " in seen.partition(question)[2])
    return terminal


def run_id(project: CliProject) -> str:
    return str(json.loads(project.call("runs", "--json").stdout)["runs"][0]["runId"])


def test_UP_89_a_decision_is_asked_and_answered_where_the_run_is_followed(writer: CliProject) -> None:
    terminal = asked(writer)
    shown = terminal.seen.partition("waits for your decision")[2]
    assert "line 8" in shown and "line 9" not in shown and "… 4 more lines" in shown
    assert "ask for [c]hanges" not in shown, "the project does not let people ask for changes"
    terminal.type(b"x\n")
    terminal.until(lambda seen: seen.count("[l]ater? ") == 2)
    terminal.type(b"v\n")
    terminal.until(lambda seen: seen.count("[l]ater? ") == 3)
    assert "line 12" in terminal.seen
    terminal.type(b"a\n")
    assert terminal.end() == 0
    assert state(writer, run_id(writer))["reason"] == "approved"


def test_UP_89_a_no_ends_it(writer: CliProject) -> None:
    terminal = asked(writer)
    terminal.type(b"r\n")
    assert terminal.end() == 4
    assert state(writer, run_id(writer))["reason"] == "rejected"


def test_UP_89_changes_are_asked_for_where_the_project_allows_it(writer: CliProject) -> None:
    writer.write(".loop-ls.yaml", SETTINGS + "assistants: {revise: true}\n")
    terminal = asked(writer)
    terminal.type(b"c\n")
    terminal.until(lambda seen: "What should change? " in seen)
    terminal.type(b"shorter, please\n")
    waited(terminal, 2)
    terminal.type(b"a\n")
    assert terminal.end() == 0
    assert "shorter, please" in writer.call("runs", "prompts").stdout


def test_UP_89_a_decision_made_elsewhere_ends_the_question(writer: CliProject) -> None:
    terminal = asked(writer)
    assert writer.call("runs", "approve", run_id(writer)).returncode == 0
    assert terminal.end() == 0
    assert "answered elsewhere" in terminal.seen


@pytest.mark.parametrize("keys", [b"l\n", b"\x04"], ids=["later", "end of input"])
def test_UP_89_who_decides_later_is_told_how(writer: CliProject, keys: bytes) -> None:
    terminal = asked(writer)
    terminal.type(keys)
    short = run_id(writer)[:6]
    terminal.until(lambda seen: f"loop-ls runs approve {short} (or reject)" in seen.partition("It keeps waiting: ")[2])
    shown = writer.call("runs", "show").stdout
    assert f"loop-ls runs approve {short} (or reject)" in shown
    assert writer.call("runs", "approve", short).returncode == 0
    assert terminal.end() == 0


def test_UP_89_ctrl_c_at_the_question_stops_the_run(writer: CliProject) -> None:
    terminal = asked(writer)
    os.kill(terminal.process.pid, signal.SIGINT)
    assert terminal.end() == 5
    assert "■ stopped" in terminal.seen
    assert "Kept: 1 iteration with output" in terminal.seen


def test_UP_89_without_a_terminal_the_run_waits_and_says_how_to_answer(writer: CliProject) -> None:
    watching = writer.popen("run", "writer.assistant.yaml", "--input", "Write")
    assert watching.stderr
    told = next(line for line in watching.stderr if "your decision" in line)
    short = run_id(writer)[:6]
    assert told == f"! your decision on iteration 1: loop-ls runs approve {short} (or reject)\n"
    assert writer.call("runs", "approve", short).returncode == 0
    assert watching.communicate(timeout=90)[0] == LINES.replace("\\n", "\n") + "\n"
    assert watching.returncode == 0


def test_UP_92_the_terminal_that_follows_the_run_puts_protected_files_back(alone: CliProject) -> None:
    guarded(alone)
    terminal = Terminal(alone, "run", "writer.assistant.yaml", "--input", "Write", "--yes")
    terminal.until(lambda seen: "[a]llow, [r]estore files, [s]top the run, [v]iew it all, [l]ater? " in seen)
    assert "The agent touched a protected file: package.json (changed)." in terminal.seen
    terminal.type(b"r\n")
    assert terminal.end() == 0
    assert (alone.root / "package.json").read_text() == "{}\n"


STUCK = {
    "name": "stuck",
    "description": "One asks before it goes on.",
    "roles": [{"name": "think", "role": "plan", "prompt": "Think."}],
    "termination_condition": {"type": "iteration_bound", "value": 1},
}
ASKS = {"answers": [{"when": {"contains": "5433"}, "say": "done"}, {"say": "STATUS: BLOCKED\nWhich port?"}]}


@pytest.fixture
def stuck(alone: CliProject) -> CliProject:
    alone.write("loops/stuck.json", json.dumps(STUCK))
    alone.write("loops/stuck.answers.yaml", json.dumps(ASKS))
    alone.write(".loop-ls.yaml", "assist: {provider: scripted, model: m}\n")
    return alone


def test_UP_96_a_blocked_run_takes_its_answer_on_the_terminal_that_follows_it(stuck: CliProject) -> None:
    terminal = Terminal(stuck, "run", "stuck", "--goal", "Do it", "--yes")
    terminal.until(lambda seen: "[t]ry again, [e]nd the run, [v]iew it all, [l]ater? " in seen)
    assert "stuck is blocked: `think` cannot continue: Which port?" in terminal.seen
    terminal.type(b"t\n")
    terminal.until(lambda seen: "Your answer: " in seen)
    terminal.type(b"5433\n")
    assert terminal.end() == 0
    assert "A person answered:" in stuck.call("runs", "prompts").stdout


def test_UP_96_a_blocked_run_ends_where_there_is_no_terminal(stuck: CliProject) -> None:
    done = stuck.call("run", "stuck", "--goal", "Do it", "--yes")
    assert done.returncode == 4
    assert "There is no terminal to answer on, so the run ends." in done.stderr
    assert "`think` cannot continue: Which port?" in done.stderr
