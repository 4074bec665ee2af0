"""Each key, value and place of a role-loop definition, as completion, hover and navigation give them.

What is expected is written out here and not taken from the tables of the product: those cannot miss what they lack.
"""

from __future__ import annotations

import json

import pytest

from loop_ls.rules.engine.checker import Checker
from tests.features.conftest import Ask, Asked
from tests.features.test_role_loop_features import WHOLE, accepted

PATH = "loops/build.json"
ENDS = ("evaluation_bound", "iteration_bound", "goal_bound", "time_bound", "manual", "tool_bound")
ROLES = (
    *("assistant", "coder", "explorer", "identity-curator", "muse", "orchestrator", "philosopher", "plan"),
    *("reviewer", "title-generator", "vision"),
)
TRUTH = {"false", "true"}


def asked(ask: Ask, source: str) -> Asked:
    return ask(source, None, False, PATH)


# -- keys by position -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "keys"),
    [
        (
            "{$0}",
            {
                *("name", "description", "roles", "parameters", "max_rework_attempts", "version", "approval"),
                *(f"termination_condition: {end}" for end in ENDS),
            },
        ),
        (
            '{"roles": [{$0}]}',
            {
                *("role", "name", "prompt", "order", "skills", "max_iterations", "requires_artifact_from"),
                *("gate", "artifact_required", "memory_required"),
            },
        ),
        ('{"parameters": [{$0}]}', {"name", "description", "required", "default"}),
        ('{"termination_condition": {$0}}', {"type", "value"}),
        ('{"termination_condition": {"type": "time_bound", $0}}', {"value", "hard"}),
        ('{"termination_condition": {"type": "manual", $0}}', set()),
        (
            '{"termination_condition": {"type": "evaluation_bound", "value": {$0}}}',
            {"criteria", "max_review_rounds"},
        ),
        ('{"termination_condition": {"type": "goal_bound", "value": {$0}}}', {"goal_prompt", "max_iterations"}),
        (
            '{"termination_condition": {"type": "tool_bound", "value": {$0}}}',
            {"tool", "arguments", "operator", "threshold", "max_iterations"},
        ),
        ('{"termination_condition": {"type": "iteration_bound", "value": {$0}}}', set()),
        ('{"approval": {$0}}', {"mode", "signals"}),
    ],
)
def test_keys_by_position(ask: Ask, source: str, keys: set[str]) -> None:
    assert set(asked(ask, source).labels) == keys


def test_no_key_is_offered_that_the_checker_then_complains_about(ask: Ask) -> None:
    sources = {
        "roles": '{"name": "a", "roles": [{$0}]}',
        "parameters": '{"name": "a", "parameters": [{$0}]}',
        "end": '{"name": "a", "termination_condition": {$0}}',
        "top": '{"name": "a", $0}',
    }
    for source in sources.values():
        for label in asked(ask, source).labels:
            text = accepted(asked(ask, source), label)
            checked = asked(ask, f"{text}$0")
            found = {one.rule for one in Checker().findings(checked.workspace, checked.document)}
            assert not {"RL001", "RL022"} & found, (label, text)


# -- values -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "values"),
    [
        ('{"roles": [{"role": $0}]}', {*ROLES}),
        ('{"roles": [{"role": "$0"}]}', {*ROLES}),
        ('{"termination_condition": {"type": $0}}', {*ENDS}),
        (
            '{"termination_condition": {"type": "tool_bound", "value": {"operator": "$0"}}}',
            {">=", ">", "<=", "<", "==", "!="},
        ),
        ('{"roles": [{"gate": $0}]}', TRUTH),
        ('{"roles": [{"artifact_required": $0}]}', TRUTH),
        ('{"roles": [{"memory_required": $0}]}', TRUTH),
        ('{"parameters": [{"required": $0}]}', TRUTH),
        ('{"termination_condition": {"type": "time_bound", "hard": $0}}', TRUTH),
        ('{"approval": {"mode": "$0"}}', {"keyword", "verdict_line", "llm"}),
        ('{"max_rework_attempts": $0}', {"3"}),
        ('{"version": $0}', {"1"}),
        ('{"termination_condition": {"type": "evaluation_bound", "value": {"max_review_rounds": $0}}}', {"5"}),
    ],
)
def test_values(ask: Ask, source: str, values: set[str]) -> None:
    one = asked(ask, source)
    assert set(one.labels) == values
    for label in values:
        json.loads(accepted(one, label))


@pytest.mark.parametrize(
    ("end", "value"),
    [
        ("evaluation_bound", {"criteria", "max_review_rounds"}),
        ("iteration_bound", 3),
        ("goal_bound", {"goal_prompt", "max_iterations"}),
        ("time_bound", 3600),
        ("manual", None),
        ("tool_bound", {"tool", "operator", "threshold", "max_iterations"}),
    ],
)
def test_an_end_comes_with_its_value_filled_in(ask: Ask, end: str, value: object) -> None:
    for source in ('{"termination_condition": {"type": "$0"}}', '{"termination_condition": {"type": $0}}'):
        written = json.loads(accepted(asked(ask, source), end))["termination_condition"]
        found = written.get("value")
        assert (set(found) if isinstance(found, dict) else found) == value


@pytest.mark.parametrize("stage", [0, 1, 2])
def test_an_artifact_comes_from_a_stage_before_this_one(ask: Ask, stage: int) -> None:
    stages = ['{"role": "plan", "prompt": "p"}'] * 3
    stages[stage] = '{"role": "coder", "prompt": "p", "requires_artifact_from": $0}'
    assert asked(ask, f'{{"roles": [{", ".join(stages)}]}}').labels == [str(number) for number in range(stage)]


@pytest.mark.parametrize("place", ["Draw a {{size}} house.", "Builds a {{size}} house", "It is {{size}}"])
@pytest.mark.parametrize("typed", ["{{$0", "{{$0}}", "{{si$0}}"])
def test_parameters_behind_two_braces(ask: Ask, place: str, typed: str) -> None:
    one = asked(ask, WHOLE.replace(place, place.replace("{{size}}", typed)))
    assert one.labels == ["size", "colour"]
    assert accepted(one, "size") == WHOLE


# -- hover ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("role", "access", "steps"),
    [
        ("coder", "full", 48),
        ("plan", "readonly", 30),
        ("reviewer", "readonly", 15),
        ("explorer", "readonly-shell", 20),
        ("muse", "readonly-shell", 32),
        ("philosopher", "readonly", 24),
        ("orchestrator", "full", None),
        ("vision", "minimal", None),
    ],
)
def test_hover_tells_access_and_cap_of_a_role(ask: Ask, role: str, access: str, steps: int | None) -> None:
    told = asked(ask, f'{{"roles": [{{"role": "$0{role}", "prompt": "p"}}]}}').told
    assert f"Access `{access}`" in told
    assert ("At most" in told) is (steps is not None)
    assert steps is None or f"At most {steps} steps" in told


@pytest.mark.parametrize(
    ("end", "words"),
    [
        ('"evaluation_bound", "value": {"criteria": "c", "max_review_rounds": 4}', "until approved, at most 4 rounds"),
        ('"evaluation_bound", "value": "only criteria"', "until approved, at most 5 rounds"),
        ('"iteration_bound", "value": "7"', "7 iterations"),
        ('"goal_bound", "value": {"max_iterations": 9}', "until the goal is reached, at most 9 iterations"),
        ('"time_bound", "value": 5400', "for 1 hour 30 minutes"),
        ('"time_bound", "value": "2030-01-31T12:00:00Z"', "until 2030-01-31"),
        ('"manual"', "until you stop it"),
        (
            '"tool_bound", "value": {"tool": "cov", "operator": ">=", "threshold": 80, "max_iterations": 6}',
            "until `cov` >= 80, at most 6 iterations",
        ),
    ],
)
@pytest.mark.parametrize("cursor", ["type", "termination_condition"])
def test_hover_tells_the_end_in_words(ask: Ask, end: str, words: str, cursor: str) -> None:
    source = f'{{"termination_condition": {{"type": {end}}}}}'
    assert words in asked(ask, source.replace(f'"{cursor}"', f'"$0{cursor}"')).told


@pytest.mark.parametrize(
    ("shape", "keys"),
    [
        ("{%s}", "name description roles parameters termination_condition max_rework_attempts version approval"),
        (
            '{"roles": [{%s}]}',
            "role name prompt order skills max_iterations requires_artifact_from gate artifact_required "
            "memory_required",
        ),
        ('{"parameters": [{%s}]}', "name description required default"),
        ('{"termination_condition": {%s}}', "type value max_iterations hard"),
        ('{"termination_condition": {"type": "evaluation_bound", "value": {%s}}}', "criteria max_review_rounds"),
        ('{"termination_condition": {"type": "goal_bound", "value": {%s}}}', "goal_prompt max_iterations"),
        (
            '{"termination_condition": {"type": "tool_bound", "value": {%s}}}',
            "tool arguments operator threshold max_iterations",
        ),
        ('{"approval": {%s}}', "mode signals"),
    ],
)
def test_UP_19_hover_on_every_key(ask: Ask, shape: str, keys: str) -> None:
    for key in keys.split():
        told = asked(ask, shape % f'"$0{key}": 1').told
        assert f"**`{key}`**" in told, key
        assert len(told) > len(key) + 40, key


# -- navigation and renaming ------------------------------------------------------------------------


def test_a_placeholder_leads_to_its_parameter_from_every_text(ask: Ask) -> None:
    for text in ("Draw a {{si", "Builds a {{si", "It is {{si"):
        assert asked(ask, WHOLE.replace(text, f"{text}$0", 1)).targets == [f"{PATH}:5 size"]


@pytest.mark.parametrize(("index", "stage"), [(0, "9 draw"), (1, "10 make")])
def test_an_artifact_leads_to_its_stage(ask: Ask, index: int, stage: str) -> None:
    source = WHOLE.replace('{"role": "reviewer",', f'{{"role": "reviewer", "requires_artifact_from": $0{index},')
    assert asked(ask, source).targets == [f"{PATH}:{stage}"]


@pytest.mark.parametrize(
    "source",
    [
        '{"name": "a"}\n$0',
        '$0\n{"name": "a"}',
        '{"roles": [{"role"$0: "coder"}]}',
        '{"name": "a"$0}',
    ],
)
def test_nothing_is_offered_where_nothing_fits_in(ask: Ask, source: str) -> None:
    assert asked(ask, source).labels == []
    assert ask(source, None, False, "a.assistant.json").labels == []
