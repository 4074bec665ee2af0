"""Complaints about tools like this one, as inputs for role loops and assistants: each keeps its number."""

from __future__ import annotations

import json
from typing import Any

import pytest

from loop_ls.testing.fixture import read_fixture
from tests.rules.checking import findings_of
from tests.rules.role_loop.role_loops import PATH, check, codes, source

JUDGED = [{"role": "plan", "prompt": "Plan {{rounds}} steps"}, {"role": "reviewer", "prompt": "Say APPROVED or not"}]


def _limited(default: Any) -> str:
    parameters = [{"name": "rounds", "description": "cap", "required": False, "default": default}]
    end = {"type": "evaluation_bound", "value": {"criteria": "complete", "max_review_rounds": "{{rounds}}"}}
    return source(parameters=parameters, roles=JUDGED, termination_condition=end)


def test_UP_03_a_placeholder_counts_with_its_default() -> None:
    assert findings_of(read_fixture(_limited("4"), PATH, False))[PATH] == ()


def test_UP_03_a_default_that_does_not_fit_is_marked_and_the_place_of_use_told() -> None:
    text = _limited("many")
    [one] = findings_of(read_fixture(text, PATH, False))[PATH]
    lines = text.split("\n")
    assert one.rule == "RL012"
    assert lines[one.span.start.line][one.span.start.column :].startswith('"many"')
    [place] = one.related
    assert '"{{rounds}}"' in lines[place.span.start.line]


@pytest.mark.parametrize("default", [5, True, 2.5, "text"])
def test_UP_04_typed_defaults_are_accepted(default: Any) -> None:
    parameters = [{"name": "rounds", "description": "cap", "required": False, "default": default}]
    assert codes(parameters=parameters, roles=JUDGED) == []


@pytest.mark.parametrize("default", [[5], {"a": 1}])
def test_UP_04_a_list_or_object_is_no_default(default: Any) -> None:
    parameters = [{"name": "rounds", "description": "cap", "required": False, "default": default}]
    assert codes(parameters=parameters, roles=JUDGED) == ["RL015"]


def test_UP_09_the_empty_text_is_a_default_and_none_is_not() -> None:
    focus = {"name": "rounds", "description": "optional slant", "required": False}
    assert codes(parameters=[focus | {"default": ""}], roles=JUDGED) == []
    assert check(parameters=[focus], roles=JUDGED) == [("RL015", "{")]


BROKEN = "name: Fixer\npersona: You repair tests.\nmaxBudgetUsd: 1\nloopEnabled: true\n"
BROKEN += 'loopCriteria: {type: regex, value: "(DONE"}\nmaxIterations: 10\n'


def test_UP_15_a_broken_pattern_is_one_finding_in_the_words_of_the_engine() -> None:
    [one] = findings_of(read_fixture(BROKEN, "fixer.assistant.yaml", False))["fixer.assistant.yaml"]
    assert one.rule == "AL011"
    assert "missing ), unterminated subpattern" in one.message


@pytest.mark.parametrize("text", [BROKEN, "name: a\npersona: ''\nmax_iterations: 2\n"])
def test_UP_18_both_spellings_of_an_ending_are_one(text: str) -> None:
    found = {}
    for path in ("fixer.assistant.yaml", "fixer.assistant.yml"):
        found[path] = [(one.rule, one.span, one.message) for one in findings_of(read_fixture(text, path, False))[path]]
    assert len(set(map(tuple, found.values()))) == 1
    assert found["fixer.assistant.yml"]


def test_UP_45_zero_is_no_limit() -> None:
    end = {"type": "goal_bound", "value": {"goal_prompt": "", "max_iterations": 0}}
    assert check(termination_condition=end) == [("RL012", "0")]
    text = "name: a\npersona: b\nmaxIterations: 0\n"
    found = findings_of(read_fixture(text, "a.assistant.yaml", False))["a.assistant.yaml"]
    assert [one.rule for one in found] == ["AL021"]


def test_UP_46_a_loop_without_end_is_told() -> None:
    text = json.loads(source(termination_condition={"type": "manual"}))
    assert codes(**text) == ["RL021"]
