"""Role-loop definitions as values that run: order, parameters, ends, and why one cannot."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from loop_ls.formats.role_loop.model import (
    Approval,
    EvaluationBound,
    GoalBound,
    IterationBound,
    Manual,
    RoleLoop,
    TimeBound,
    ToolBound,
)
from loop_ls.formats.role_loop.read import read_role_loop

SOUND: dict[str, Any] = {
    "name": "build",
    "description": "Builds",
    "roles": [{"role": "coder", "prompt": "Build."}],
    "termination_condition": {"type": "iteration_bound", "value": 2},
}


def loop(given: dict[str, str] | None = None, **changes: Any) -> RoleLoop:
    found = read_role_loop(json.dumps(SOUND | changes), given)
    assert isinstance(found, RoleLoop), found
    return found


def refused(**changes: Any) -> list[str]:
    found = read_role_loop(json.dumps({k: v for k, v in (SOUND | changes).items() if v is not None}))
    assert isinstance(found, list)
    return [one.code for one in found]


def test_a_definition_says_what_runs() -> None:
    found = loop()
    assert (found.name, found.description, found.version, found.max_rework_attempts) == ("build", "Builds", 1, 3)
    assert [(one.role, one.label, one.prompt) for one in found.stages] == [("coder", "coder", "Build.")]
    assert found.termination == IterationBound(2)


def test_stages_run_by_order_when_every_one_has_one() -> None:
    roles = [
        {"role": "coder", "name": "implement", "prompt": "B", "order": 2},
        {"role": "plan", "prompt": "A", "order": 1},
    ]
    assert [one.label for one in loop(roles=roles).stages] == ["plan", "implement"]
    del roles[1]["order"]
    assert [one.label for one in loop(roles=roles).stages] == ["implement", "plan"]


def test_keys_of_a_stage() -> None:
    stage = {"role": "coder", "prompt": "B", "skills": ["git"], "max_iterations": "9", "gate": True}
    stage |= {"artifact_required": True, "memory_required": False}
    [found] = loop(roles=[stage]).stages
    assert (found.skills, found.max_iterations, found.gate) == (("git",), 9, True)
    assert (found.artifact_required, found.memory_required, found.requires_artifact_from) == (True, False, None)


ENDS: list[tuple[dict[str, Any], object]] = [
    ({"type": "evaluation_bound", "value": "ok"}, EvaluationBound("ok", 5)),
    ({"type": "evaluation_bound", "value": {"criteria": "ok", "max_review_rounds": "2"}}, EvaluationBound("ok", 2)),
    ({"type": "iteration_bound", "max_iterations": 7}, IterationBound(7)),
    ({"type": "goal_bound", "value": {"max_iterations": 4}}, GoalBound("", 4)),
    ({"type": "time_bound", "value": 60, "hard": True}, TimeBound(60, hard=True)),
    (
        {"type": "time_bound", "value": "2031-12-31T23:00:00Z"},
        TimeBound(deadline=datetime(2031, 12, 31, 23, tzinfo=UTC)),
    ),
    ({"type": "manual"}, Manual()),
    (
        {
            "type": "tool_bound",
            "value": {"tool": "t", "operator": ">", "threshold": 1, "max_iterations": 2, "arguments": {"a": [1]}},
        },
        ToolBound("t", ">", 1.0, 2, {"a": [1]}),
    ),
]


@pytest.mark.parametrize(("condition", "expected"), ENDS)
def test_ends(condition: dict[str, Any], expected: object) -> None:
    assert loop(termination_condition=condition).termination == expected


def test_without_an_end_there_is_one_iteration() -> None:
    text = json.dumps({k: v for k, v in SOUND.items() if k not in ("termination_condition", "description")})
    found = read_role_loop(text)
    assert isinstance(found, RoleLoop)
    assert found.termination == IterationBound(1)


PARAMETERS = [
    {"name": "rounds", "description": "d", "required": False, "default": 4},
    {"name": "topic", "description": "d"},
]
USING: dict[str, Any] = {
    "parameters": PARAMETERS,
    "roles": [{"role": "plan", "prompt": "On {{topic}}, {{rounds}} times, {{other}}, {{ topic }}"}],
    "termination_condition": {"type": "iteration_bound", "value": "{{rounds}}"},
}


def test_defaults_are_filled_in_and_the_rest_stays() -> None:
    found = loop(**USING)
    assert found.termination == IterationBound(4)
    assert found.stages[0].prompt == "On {{topic}}, 4 times, {{other}}, {{ topic }}"
    assert found.resolved == {"rounds": "4"}
    assert found.missing == ("topic",)


def test_given_texts_win_and_are_not_filled_in_again() -> None:
    found = loop({"topic": "{{rounds}}", "rounds": "9", "other": "dropped"}, **USING)
    assert found.termination == IterationBound(9)
    assert found.stages[0].prompt.startswith("On {{rounds}}, 9 times, {{other}}")
    assert found.missing == ()


def test_the_empty_text_counts_as_given() -> None:
    assert loop({"topic": ""}, **USING).missing == ()


def test_a_limit_that_only_a_start_knows_is_open() -> None:
    parameters = [{"name": "rounds", "description": "d"}]
    end = {"type": "iteration_bound", "value": "{{rounds}}"}
    assert loop(parameters=parameters, termination_condition=end).termination == IterationBound(None)
    assert loop({"rounds": "3"}, parameters=parameters, termination_condition=end).termination == IterationBound(3)


def test_a_given_text_that_does_not_fit_is_refused() -> None:
    found = read_role_loop(json.dumps(SOUND | USING), {"rounds": "many", "topic": "x"})
    assert isinstance(found, list)
    assert [one.code for one in found] == ["RL012"]


def test_approval() -> None:
    assert loop().approval == Approval("keyword", ())
    found = loop(approval={"mode": "verdict_line", "signals": ["approve"]}).approval
    assert found == Approval("verdict_line", ("approve",))


@pytest.mark.parametrize(
    ("changes", "codes"),
    [
        ({"name": "A b"}, ["RL002"]),
        ({"roles": []}, ["RL005"]),
        ({"roles": [{"role": "nobody", "prompt": " "}]}, ["RL007", "RL008"]),
        ({"termination_condition": {"type": "sometimes"}}, ["RL011"]),
        ({"termination_condition": {"type": "iteration_bound", "value": 0}}, ["RL012"]),
        ({"parameters": [{"name": "A"}, {"name": "b", "required": False}]}, ["RL013", "RL015"]),
        ({"version": "one"}, ["RL023"]),
        ({"description": None, "termination_condition": None}, []),
    ],
)
def test_errors_refuse_and_warnings_do_not(changes: dict[str, Any], codes: list[str]) -> None:
    if codes:
        assert refused(**changes) == codes
    else:
        found = read_role_loop(json.dumps({k: v for k, v in (SOUND | changes).items() if v is not None}))
        assert isinstance(found, RoleLoop)


def test_more_roles_may_exist() -> None:
    assert isinstance(
        read_role_loop(json.dumps(SOUND | {"roles": [{"role": "x", "prompt": "p"}]}), roles=["x"]), RoleLoop
    )


@pytest.mark.parametrize("text", ["", "[]", "{", '{"a": 1,}', "null", "5", '{"name": "a"} x'])
def test_no_object_no_loop(text: str) -> None:
    found = read_role_loop(text)
    assert isinstance(found, list)
    assert [one.code for one in found] == ["RL001"]


def test_refusals_have_places_in_the_file() -> None:
    text = '{\n  "name": "build",\n  "description": "d",\n  "roles": [{"role": "codr", "prompt": "p"}]\n}'
    found = read_role_loop(text)
    assert isinstance(found, list)
    assert [(one.code, one.span.start) for one in found] == [("RL007", (3, 21))]
