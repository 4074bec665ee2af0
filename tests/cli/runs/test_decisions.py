"""A loop that waits for a person, answered from the terminal."""

from __future__ import annotations

import json
import sys
import time

from tests.cli.conftest import CliProject

ASSISTANT = """\
name: Writer
persona: You write.
provider: openai
loopEnabled: true
loopCriteria: {type: manual, value: ""}
maxIterations: 5
"""
ANSWERS = 'answers:\n  - say: ["draft one", "draft two"]\n'


def state(project: CliProject, run_id: str) -> dict[str, object]:
    return dict(json.loads(project.call("runs", "status", run_id, "--json").stdout)["state"])


def waiting(project: CliProject, run_id: str, iteration: int) -> dict[str, object]:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        found = state(project, run_id)
        if found["status"] == "waiting_approval" and found["iteration"] == iteration:
            return found
    raise AssertionError(state(project, run_id))


def test_a_person_sends_a_loop_back_and_then_lets_it_end(alone: CliProject) -> None:
    alone.write("writer.assistant.yaml", ASSISTANT)
    alone.write(".loop-ls.yaml", "assistants: {revise: true}\n")
    alone.write("writer.answers.yaml", ANSWERS)
    done = alone.call("run", "writer.assistant.yaml", "--input", "Write", "--mock", "--detach", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    run_id = str(json.loads(done.stdout)["runId"])
    assert waiting(alone, run_id, 1)["pendingApproval"]
    assert alone.call("runs", "reject", run_id, "--revise", "--feedback", "shorter").returncode == 0
    waiting(alone, run_id, 2)
    said = alone.call("runs", "approve", run_id)
    assert "approve" in said.stdout, said.stderr
    deadline = time.monotonic() + 60
    while state(alone, run_id)["status"] != "completed":
        assert time.monotonic() < deadline
    assert state(alone, run_id)["reason"] == "approved"
    assert alone.call("runs", "approve", run_id).returncode == 2


def test_an_assistant_of_ones_own_waits_for_a_person_without_a_key(alone: CliProject) -> None:
    made = alone.call("new", "assistant", "fresh", "--provider", "scripted", "--approval", "--into", "own")
    assert "no key needed: loop-ls run own/fresh.assistant.yaml" in made.stdout, made.stderr
    assert "no findings" in alone.call("check", "own").stdout
    done = alone.call("run", "own/fresh.assistant.yaml", "--input", "a wish", "--detach", "--json")
    run_id = str(json.loads(done.stdout)["runId"])
    waiting(alone, run_id, 1)
    assert "waits for you" in alone.call("runs", "show", run_id).stdout
    said = alone.call("runs", "reject", run_id, "--revise", "--feedback", "shorter").stdout
    assert said == f"{run_id[:6]}  another iteration with your feedback\n"
    waiting(alone, run_id, 2)
    assert alone.call("runs", "approve", run_id).stdout == f"{run_id[:6]}  approved\n"


AGENT = """\
import pathlib, sys
manifest = pathlib.Path("package.json")
manifest.write_text(manifest.read_text() + "# mine\\n")
print("done")
"""
GUARDED = """\
name: Writer
persona: You write.
loopEnabled: true
loopCriteria: {type: regex, value: \\bdone\\b}
maxIterations: 1
"""


def guarded(project: CliProject) -> None:
    """An assistant whose agent touches a protected file."""
    project.write("writer.assistant.yaml", GUARDED)
    project.write("package.json", "{}\n")
    agent = json.dumps([sys.executable, str(project.write("agent.py", AGENT)), "{message}"])
    project.write(".loop-ls.yaml", f"providers: {{claude-code: {{kind: agent-cli, cli: {agent}}}}}\n")


def test_UP_92_protected_files_are_put_back_from_the_terminal_that_says_what_to_type(alone: CliProject) -> None:
    guarded(alone)
    done = alone.call("run", "writer.assistant.yaml", "--input", "Write", "--yes", "--detach", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    run_id = str(json.loads(done.stdout)["runId"])
    assert waiting(alone, run_id, 1)["pendingApproval"]
    told = alone.call("runs").stderr
    assert "The agent touched a protected file: package.json (changed)." in told
    assert f"loop-ls runs reject {run_id[:6]} --restore puts the files back" in told
    assert "restore" in alone.call("runs", "reject", run_id, "--restore").stdout
    deadline = time.monotonic() + 60
    while state(alone, run_id)["status"] != "completed":
        assert time.monotonic() < deadline
    assert (alone.root / "package.json").read_text() == "{}\n"
