"""Checks and test cases beside role loops and assistants: what they name, what cases give, and what is offered."""

from __future__ import annotations

import pytest

from loop_ls.features.complete.completion import complete
from loop_ls.features.estimate.estimate import estimate
from loop_ls.testing.fixture import read_fixture
from loop_ls.text.position import Position
from tests.rules.checking import document_of, findings_of, workspace_of

PAIR = """\
#- loops/pair.json
{"name": "pair", "description": "Two.", "parameters": [{"name": "tone"}, {"name": "length", "default": "short"}],
 "roles": [{"name": "write", "role": "coder", "prompt": "Write {{tone}}, {{length}}."},
           {"role": "reviewer", "prompt": "Say APPROVED."}, {"role": "reviewer", "prompt": "Say APPROVED."}],
 "termination_condition": {"type": "iteration_bound", "value": 2}}
"""
BOTH = """\
#- team.assistant.yaml
assistants:
  - {id: fixer, name: The Fixer, persona: You repair., loopEnabled: true}
  - {name: Writer, persona: You write., loopEnabled: true}
"""


def told(beside: str, path: str, text: str) -> list[tuple[str, str]]:
    found = findings_of(read_fixture(f"#- {path}\n{text}\n{beside}"))
    return [(one.rule, one.message) for one in found[path]]


@pytest.mark.parametrize("place", ["stage.write", "stage.reviewer-2", "stage.reviewer-3", "loop.pair", "result", "run"])
def test_stages_and_the_loop_itself_are_places(place: str) -> None:
    assert told(PAIR, "loops/pair.checks.yaml", f"assert: [{{on: {place}, type: command, value: [make]}}]") == []


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ("step.write", "`pair` has stages, no steps; write `stage.write`"),
        ("stage.wriet", "`pair` has no stage `wriet`; did you mean `write`?"),
        ("stage.reviewer", "`pair` has no stage `reviewer`"),
        ("loop.other", "`pair` has no loop `other`"),
    ],
)
def test_what_a_role_loop_does_not_have(place: str, expected: str) -> None:
    [(code, message)] = told(PAIR, "loops/pair.checks.yaml", f"assert: [{{on: {place}, type: is-json}}]")
    assert (code, message.startswith(expected)) == ("CK011", True), message


def test_an_assistant_has_loops_and_no_parts() -> None:
    named = ("loop.fixer", "loop.The Fixer", "loop.writer")
    fine = f"assert: [{', '.join(f'{{name: {one}, on: {one}, type: is-json}}' for one in named)}]"
    assert told(BOTH, "team.checks.yaml", fine) == []
    [(code, message)] = told(BOTH, "team.checks.yaml", "assert: [{on: step.write, type: is-json}]")
    assert (code, "write `result`" in message) == ("CK011", True)
    [(code, message)] = told(BOTH, "team.checks.yaml", "verifiers: [writer]")
    assert code == "CK011"


def test_a_workflow_has_steps_and_no_stages() -> None:
    flow = '#- flow.yaml\nsteps: [{name: write, run: "Write about {{input}}"}]'
    [(code, message)] = told(flow, "flow.checks.yaml", "assert: [{on: stage.write, type: is-json}]")
    assert (code, message.endswith("has steps, no stages; write `step.write`")) == ("CK011", True), message


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("{input: the sea, tone: dry}", []),
        ("{input: the sea, tone: dry, length: long}", []),
        ("{tone: dry}", ["CK016"]),
        ("{input: the sea}", ["CK016"]),
        ("{input: the sea, toen: dry}", ["CK015"]),
        ("{input: the sea, tone: dry, goal: x}", ["CK015"]),
    ],
)
def test_a_case_of_a_role_loop_gives_its_goal_and_its_parameters(given: str, expected: list[str]) -> None:
    cases = f"tests: [{{name: sea, vars: {given}, assert: [{{type: is-json}}]}}]"
    assert [code for code, _ in told(PAIR, "loops/pair.cases.yaml", cases)] == expected


def test_a_case_of_an_assistant_gives_its_message() -> None:
    cases = "tests: [{name: sea, vars: {tone: dry}, assert: [{type: is-json}]}]"
    assert [code for code, _ in told(BOTH, "team.cases.yaml", cases)] == ["CK016", "CK015"]


@pytest.mark.parametrize(
    ("beside", "path", "text", "at", "expected"),
    [
        (PAIR, "loops/pair.checks.yaml", "assert:\n  - on: ", (1, 8), {"stage.write", "loop.pair", "result", "run"}),
        (PAIR, "loops/pair.checks.yaml", "verifiers:\n  - ", (1, 4), {"write", "reviewer-2", "reviewer-3"}),
        (BOTH, "team.checks.yaml", "assert:\n  - on: ", (1, 8), {"loop.fixer", "loop.writer", "result"}),
    ],
)
def test_places_are_offered(beside: str, path: str, text: str, at: tuple[int, int], expected: set[str]) -> None:
    workspace = workspace_of(read_fixture(f"#- {path}\n{text}\n{beside}"))
    offered = {one.label for one in complete(workspace, document_of(workspace, path), Position(*at)).items}
    assert offered >= expected


def test_an_estimate_says_what_rubrics_ask_besides() -> None:
    good, long = "type: llm-rubric, value: Good., votes: 3", "on: stage.write, type: llm-rubric, value: Long."
    checks = f"assert: [{{{good}}}, {{name: b, {long}}}]"
    workspace = workspace_of(read_fixture(f"#- loops/pair.checks.yaml\n{checks}\n{PAIR}"))
    told = estimate(workspace, document_of(workspace, "loops/pair.json")).why
    assert told.endswith("With `--check` a judge is also called: 4 calls for each iteration.")
    flow = '#- flow.yaml\nsteps: [{name: write, run: "Write about {{input}}"}]'
    workspace = workspace_of(read_fixture(f"#- flow.checks.yaml\nassert: [{{type: llm-rubric, value: Good.}}]\n{flow}"))
    told = estimate(workspace, document_of(workspace, "flow.yaml")).why
    assert told.endswith("With `--check` a judge is also called: 1 call in a run.")
