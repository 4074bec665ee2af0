"""Role loops on the command line: by name with a goal, the built-in ones, what is missing, what it may cost."""

from __future__ import annotations

import json

import pytest

from tests.cli.conftest import CliProject

PAIR = {
    "name": "pair",
    "description": "One writes, one judges.",
    "parameters": [{"name": "tone", "description": "How it sounds."}],
    "roles": [
        {"name": "write", "role": "plan", "prompt": "Write, {{tone}}."},
        {"name": "judge-it", "role": "reviewer", "prompt": "Say APPROVED, or what is missing."},
    ],
    "termination_condition": {"type": "evaluation_bound", "value": {"criteria": "Good.", "max_review_rounds": 2}},
}


@pytest.fixture(scope="module")
def project(shared: CliProject) -> CliProject:
    shared.write("loops/pair.json", json.dumps(PAIR))
    return shared


def test_a_loop_runs_by_its_name_until_it_is_approved(project: CliProject) -> None:
    done = project.call("run", "pair", "--goal", "Say hello.", "--param", "tone=calm", "--mock")
    assert done.returncode == 0, done.stderr
    assert "APPROVED" in done.stdout
    assert "✓ approved in iteration 2" in done.stderr


def test_a_limit_is_no_approval(project: CliProject) -> None:
    words = ["--goal", "x", "--param", "tone=calm", "--mock", "--max-iterations", "1"]
    done = project.call("run", "loops/pair.json", *words)
    assert done.returncode == 3
    assert "limit reached" in done.stderr


def test_a_built_in_loop_runs_by_its_name(project: CliProject) -> None:
    done = project.call("run", "goal-driven", "--goal", "Say hello.", "--mock")
    assert done.returncode == 0, done.stderr
    assert "goal met in iteration 2" in done.stderr


def test_what_is_missing_is_said_with_its_option(project: CliProject) -> None:
    done = project.call("run", "pair", "--mock")
    assert done.returncode == 2
    assert "`goal`, `tone`" in done.stderr
    assert "--goal TEXT" in done.stderr


def test_definitions_and_their_cost(project: CliProject) -> None:
    found = json.loads(project.call("definitions", "--json").stdout)["definitions"]
    by_name = {one["name"]: one for one in found if one["format"] == "role_loop"}
    assert list(by_name) == ["pair", "harness", "research", "goal-driven", "diverge-converge", "reflection"]
    assert by_name["harness"]["stages"] == ["plan", "implement", "evaluate"]
    cost = json.loads(project.call("estimate", "loops/pair.json", "--json").stdout)
    assert cost["calls"] == {"min": 2, "max": 2 * (30 + 15)}
