"""Fixes of role loops, assistants and settings: the text afterwards, and that the finding is gone."""

from __future__ import annotations

import json

import pytest

from loop_ls.rules.engine.checker import Checker
from loop_ls.rules.engine.finding import Fix
from loop_ls.rules.fixes.apply import applied, fix_document
from loop_ls.testing.fixture import read_fixture
from tests.rules.checking import document_of, workspace_of
from tests.rules.role_loop.role_loops import source

LOOP, ASSISTANT, SETTINGS = "loops/build.json", "fixer.assistant.yaml", ".loop-ls.yaml"


def fixed(text: str, path: str) -> str:
    """The text after every safe fix."""
    workspace = workspace_of(read_fixture(text, path, head=False))
    return str(fix_document(Checker(), workspace, document_of(workspace, path)).document.text)


def chosen(text: str, path: str, title: str) -> str:
    """The text after one fix, by its title, safe or not."""
    workspace = workspace_of(read_fixture(text, path, head=False))
    document = document_of(workspace, path)
    fixes: list[Fix] = [fix for one in Checker().findings(workspace, document) for fix in one.fixes]
    fix = next(one for one in fixes if one.title == title)
    return str(applied(document, list(fix.edits(document))).text)


# -- role loops -----------------------------------------------------------------------------------


def test_a_comma_too_many_goes() -> None:
    sound = source()
    assert fixed(sound.replace("2\n  }", "2,\n  }"), LOOP) == sound


def test_a_missing_end_is_written_where_the_other_keys_are() -> None:
    text = source(termination_condition=None)
    after = json.loads(fixed(text, LOOP))
    assert after["termination_condition"] == {"type": "iteration_bound", "value": 1}
    assert fixed(text, LOOP).count("\n") == text.count("\n") + 1


def test_a_missing_end_in_one_line() -> None:
    text = json.dumps(json.loads(source(termination_condition=None)))
    after = fixed(text, LOOP)
    assert "\n" not in after
    assert "termination_condition" in json.loads(after)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"roles": [{"role": "codr", "prompt": "x"}]}, {"roles": [{"role": "coder", "prompt": "x"}]}),
        (
            {"roles": [{"role": "coder", "prompt": "x", "max_iteration": 3}]},
            {"roles": [{"role": "coder", "prompt": "x", "max_iterations": 3}]},
        ),
        (
            {"roles": [{"role": "coder", "prompt": "x", "order": "3", "gate": "true"}]},
            {"roles": [{"role": "coder", "prompt": "x", "order": 3, "gate": True}]},
        ),
        (
            {"termination_condition": {"type": "iteration_bound", "max_iterations": 3}},
            {"termination_condition": {"type": "iteration_bound", "value": 3}},
        ),
        (
            {"termination_condition": {"type": "iteration_bond", "value": 3}},
            {"termination_condition": {"type": "iteration_bound", "value": 3}},
        ),
        ({"on_question": "block"}, {}),
        (
            {
                "parameters": [{"name": "size", "description": "d"}],
                "roles": [{"role": "coder", "prompt": "A {{ size }} of {{sise}}"}],
            },
            {
                "parameters": [{"name": "size", "description": "d"}],
                "roles": [{"role": "coder", "prompt": "A {{size}} of {{size}}"}],
            },
        ),
        (
            {
                "parameters": [{"name": "size", "description": "d", "required": True, "default": "x"}],
                "roles": [{"role": "coder", "prompt": "{{size}}"}],
            },
            {
                "parameters": [{"name": "size", "description": "d", "required": True}],
                "roles": [{"role": "coder", "prompt": "{{size}}"}],
            },
        ),
    ],
)
def test_safe_fixes_of_definitions(changes: dict[str, object], expected: dict[str, object]) -> None:
    assert json.loads(fixed(source(**changes), LOOP)) == json.loads(source(**expected))


def test_a_placeholder_is_declared_on_request() -> None:
    roles = [{"role": "coder", "prompt": "A {{size}}"}]
    after = json.loads(chosen(source(roles=roles), LOOP, "Declare `size`"))
    assert after["parameters"] == [{"name": "size", "description": "size"}]
    more = source(roles=roles, parameters=[{"name": "other", "description": "d"}])
    after = json.loads(chosen(more, LOOP, "Declare `size`"))
    assert [one["name"] for one in after["parameters"]] == ["other", "size"]


def test_an_empty_default_is_added_on_request() -> None:
    parameter = {"name": "size", "description": "d", "required": False}
    text = source(parameters=[parameter], roles=[{"role": "coder", "prompt": "{{size}}"}])
    after = json.loads(chosen(text, LOOP, "Add an empty default"))
    assert after["parameters"] == [parameter | {"default": ""}]


# -- assistants -----------------------------------------------------------------------------------

HEAD = "name: Fixer\npersona: You repair things.\nmaxBudgetUsd: 0.5\nloopEnabled: true\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("max_iterations: 5", "maxIterations: 5"),
        ("system_prompt: x", "system_prompt: x"),
        ("purpose: codin", "purpose: coding"),
        ("memoryEnabled: 'true'", "memoryEnabled: true"),
        ("description: 5", 'description: "5"'),
        ("maxIterations: '5'", "maxIterations: 5"),
    ],
)
def test_safe_fixes_of_assistants(before: str, after: str) -> None:
    assert fixed(f"name: a\npersona: b  # who\n{before}\n", ASSISTANT) == f"name: a\npersona: b  # who\n{after}\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("{type: regexp, value: x}", "{type: regex, value: x}"),
        ("{type: regex, value: 42}", '{type: regex, value: "42"}'),
        ("{type: regex, value: 'q[^]z'}", r"{type: regex, value: 'q[\s\S]z'}"),
        ("{type: max_iterations, value: x}", "{type: max_iterations}"),
    ],
)
def test_safe_fixes_of_criteria(before: str, after: str) -> None:
    assert fixed(f"{HEAD}loopCriteria: {before}\n", ASSISTANT) == f"{HEAD}loopCriteria: {after}\n"


def test_a_number_of_rounds_that_nobody_reaches_becomes_one() -> None:
    asked = "name: A\npersona: x\nmaxBudgetUsd: 1\nloopEnabled: true\nloopCriteria: {type: manual}\nmaxIterations: "
    assert fixed(f"{asked}5\n", ASSISTANT) == f"{asked}1\n"
    aliased = asked.replace("maxBudgetUsd: 1", "maxBudgetUsd: &five 5") + "*five\n"
    assert fixed(aliased, ASSISTANT) == aliased, "the value stands elsewhere"


def test_a_person_is_asked_once() -> None:
    after = fixed(f"{HEAD}loopCriteria:\n  type: manual\nmodel: opus\n", ASSISTANT)
    assert after == f"{HEAD}loopCriteria:\n  type: manual\nmaxIterations: 1\nmodel: opus\n"
    listed = "assistants:\n  - name: a\n    persona: b\n    maxBudgetUsd: 1\n    loopEnabled: true\n"
    listed += "    loopCriteria: {type: manual}\n"
    assert fixed(listed, ASSISTANT) == f"{listed}    maxIterations: 1\n"
    same = {"name": "a", "persona": "b", "maxBudgetUsd": 1, "loopEnabled": True, "loopCriteria": {"type": "manual"}}
    assert json.loads(fixed(json.dumps(same), "a.assistant.json")) == same | {"maxIterations": 1}


def test_quotes_become_exact_words_on_request() -> None:
    text = f"{HEAD}loopCriteria:\n  type: test_pass\n  value: 'sh -k \"a or b\"'\n"
    after = chosen(text, ASSISTANT, "List the exact arguments in `argv`")
    assert after == f'{HEAD}loopCriteria:\n  type: test_pass\n  argv: ["sh", "-k", "a or b"]\n'


def test_slashes_go_on_request() -> None:
    text = f"{HEAD}loopCriteria: {{type: regex, value: /done/i}}\n"
    assert chosen(text, ASSISTANT, "Remove the slashes") == f"{HEAD}loopCriteria: {{type: regex, value: done}}\n"


# -- settings -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("rule: {WF115: off}", "rules: {WF115: off}"),
        ("rules: {wf115: off}", "rules: {WF115: off}"),
        ("providers: {a: {kind: openapi}}", "providers: {a: {kind: openai}}"),
        ("providers: {a: {base_url: x}}", "providers: {a: {baseUrl: x}}"),
        ("providers: {a: {apiKey: HOUSE_KEY_ONE}}", "providers: {a: {apiKeyEnv: HOUSE_KEY_ONE}}"),
        ("providers: {a: {apiKey: abc}}", "providers: {a: {apiKey: abc}}"),
    ],
)
def test_safe_fixes_of_settings(before: str, after: str) -> None:
    assert fixed(before + "\n", SETTINGS) == after + "\n"
