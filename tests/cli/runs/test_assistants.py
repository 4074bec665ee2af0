"""Assistants from the command line and the editor, with the real engine and a fake agent."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Callable
from typing import Any

import pytest

from tests.cli.conftest import CliProject
from tests.engine.runners.support.agents import FakeAgent
from tests.processes.ended import gone
from tests.server.support.raw import RawClient

FILE = "fixer.assistant.yaml"
FIXER = """\
name: Fixer
persona: You repair.
loopEnabled: true
loopCriteria: {type: regex, value: all green}
maxIterations: 4
"""


@pytest.fixture
def agent(alone: CliProject) -> FakeAgent:
    made = FakeAgent(alone.root / "agent")
    alone.write(FILE, FIXER)
    settings = {"providers": made.settings, "engine": {"teardownGraceMs": 300}}
    alone.write(".loop-ls.yaml", json.dumps(settings))
    return made


def until(wanted: Callable[[], Any], seconds: float = 60) -> Any:
    deadline = time.monotonic() + seconds
    while not (found := wanted()):
        assert time.monotonic() < deadline, "it took too long"
        time.sleep(0.02)
    return found


def test_an_assistant_is_run_and_watched_by_its_file(alone: CliProject, agent: FakeAgent) -> None:
    agent.say({"text": "two red"}, {"text": "all green"})
    done = alone.call("run", FILE, "--input", "make it green", "--json")
    refused = json.loads(done.stdout)
    assert (refused["ok"], refused["code"], done.returncode) == (False, "consent_required", 2)
    assert refused["programs"] == [list(agent.program)]
    done = alone.call("run", FILE, "--input", "make it green", "--json", "--yes")
    state = json.loads(done.stdout)
    assert done.returncode == 0, done.stderr
    assert (state["name"], state["status"], state["reason"]) == ("Fixer", "completed", "condition_met")
    assert (state["iteration"], state["output"]) == (2, "all green")
    assert [call["cwd"] for call in agent.calls] == [str(alone.root)] * 2
    shown = alone.call("runs", "show", state["runId"])
    assert "all green" in shown.stdout


def test_what_is_missing_is_told_as_an_option_that_there_is(alone: CliProject, agent: FakeAgent) -> None:
    done = alone.call("run", FILE)
    assert done.returncode == 2
    assert "  give: --input TEXT\n" in done.stderr


def test_a_limit_ends_with_3_and_a_failure_with_4(alone: CliProject, agent: FakeAgent) -> None:
    agent.say({"text": "red"})
    limited = alone.call("run", FILE, "--input", "x", "--yes", "--max-iterations", "1")
    assert limited.returncode == 3
    agent.say({"exit": 2, "stderr": "no credit"})
    failed = alone.call("run", FILE, "--input", "x", "--yes")
    assert failed.returncode == 4
    assert "no credit" in failed.stdout + failed.stderr


def test_a_mock_run_starts_no_agent(alone: CliProject, agent: FakeAgent) -> None:
    alone.write("fixer.assistant.answers.yaml", 'answers:\n  - say: ["red", "all green"]\n')
    done = alone.call("run", FILE, "--input", "x", "--mock", "--json")
    state = json.loads(done.stdout)
    assert (state["status"], agent.calls) == ("completed", [])


def test_AB_139_a_signal_ends_the_engine_and_every_process_of_its_loops(alone: CliProject, agent: FakeAgent) -> None:
    agent.say({"text": "x", "child": True, "hang": True})
    engine = alone.popen("engine", "start", "--foreground")
    until(alone.engine_pid)
    alone.call("run", FILE, "--input", "x", "--yes", "--detach")
    call = until(lambda: agent.calls)[0]
    engine.send_signal(signal.SIGTERM)
    assert engine.wait(60) == 0
    until(lambda: gone(call["pid"]) and gone(call["child"]), 5)


def test_UP_32_a_server_that_leaves_takes_its_loops_along_after_the_grace_time(
    alone: CliProject, agent: FakeAgent
) -> None:
    agent.say({"text": "x", "child": True, "hang": True})
    uri = (alone.root / FILE).as_uri()
    with RawClient(env=alone.env()) as client:
        client.begin({}, alone.root, {"settlesAnswers": True})
        client.open(uri, FIXER)
        client.diagnostics(uri, 1)
        argument = {"uri": uri, "target": {"kind": "assistant", "name": "fixer"}, "message": "do it"}

        def run(more: dict[str, Any]) -> Any:
            request = {"command": "loopLs.run", "arguments": [{**argument, **more}]}
            return client.ask("workspace/executeCommand", request, 60)["result"]

        asked = run({})
        assert asked["code"] == "consent_required", asked
        started = run({"consent": asked["nonce"]})
        assert started["ok"], started
        detached = alone.call("engine", "status")
        assert detached.returncode == 0
        call = until(lambda: agent.calls)[0]
        assert client.end() == 0
    until(lambda: gone(call["pid"]) and gone(call["child"]), 20)
    state = until(lambda: _ended(alone, started["runId"]))
    assert (state["status"], state["reason"]) == ("cancelled", "teardown")
    forked = alone.call("runs", "fork", started["runId"], "--detach", "--json")
    assert json.loads(forked.stdout)["ok"], forked.stdout


def _ended(project: CliProject, run_id: str) -> Any:
    done = project.call("runs", "status", run_id, "--json")
    state = json.loads(done.stdout).get("state") or {}
    return state if state.get("endedAt") else None


TWO = """\
assistants:
  - {id: greeter, name: Greeter, persona: You greet., loopEnabled: true, maxIterations: 1}
  - {id: closer, name: Closer, persona: You close., loopEnabled: true, maxIterations: 1}
"""


@pytest.mark.parametrize("words", [("closer",), ("team.assistant.yaml", "--loop", "closer")])
def test_AB_166_one_of_several_assistants_is_started_by_its_id(alone: CliProject, words: tuple[str, ...]) -> None:
    alone.write("team.assistant.yaml", TWO)
    done = alone.call("run", *words, "--input", "x", "--mock", "--json")
    assert json.loads(done.stdout).get("name") == "Closer", done.stdout + done.stderr


def test_AB_166_a_file_of_several_assistants_says_how_one_is_named(alone: CliProject) -> None:
    alone.write("team.assistant.yaml", TWO)
    done = alone.call("run", "team.assistant.yaml", "--input", "x", "--mock")
    assert done.returncode == 2
    assert "`greeter`, `closer`" in done.stderr
    assert "`loop-ls run ID`" in done.stderr
