"""Who speaks for the roles of a loop and who judges it, by the settings."""

from __future__ import annotations

import pytest

from loop_ls.engine.core.errors import Refused
from loop_ls.engine.roles.targets import MOCK, asked_of, role_target, utility_targets
from loop_ls.formats.common.target import Target
from loop_ls.formats.role_loop.model import (
    Approval,
    ApprovalMode,
    EvaluationBound,
    GoalBound,
    IterationBound,
    RoleLoop,
    Stage,
    Termination,
)
from loop_ls.text.json_value import Json

ASSIST: dict[str, Json] = {"provider": "acme", "model": "small"}
JUDGE: dict[str, Json] = {"provider": "law", "model": "strict"}


def loop_of(termination: Termination, mode: ApprovalMode = "keyword") -> RoleLoop:
    stages = tuple(Stage(role, role, "go") for role in ("coder", "reviewer", "coder"))
    return RoleLoop("pair", "", stages, termination, approval=Approval(mode))


def test_RB_135_a_role_speaks_by_its_own_settings_then_by_those_of_the_assistant() -> None:
    own: dict[str, Json] = {"roles": {"coder": {"provider": "own", "model": "big"}}, "assist": ASSIST}
    assert role_target("coder", own) == Target("own", "big")
    assert role_target("reviewer", own) == Target("acme", "small")
    alone: dict[str, Json] = {"roles": {"coder": {"model": "big"}}}
    assert role_target("coder", {**alone, "assist": ASSIST}) == Target("acme", "big"), (
        "of the provider of the assistant"
    )
    assert role_target("coder", alone) is None
    assert role_target("coder", {}) is None
    assert role_target("coder", {}, mock=True) == MOCK
    usual: dict[str, Json] = {"assist": {"provider": "acme"}, "providers": {"acme": {"defaultModel": "usual"}}}
    assert role_target("coder", usual) == Target("acme", "usual")
    assert role_target("coder", {**usual, "assist": ASSIST}) == Target("acme", "small")
    assert role_target("coder", {"assist": {"provider": "acme"}}) == Target("acme", "")


def test_RB_135_the_judge_is_the_own_one_then_the_assistant() -> None:
    assert utility_targets({"judge": JUDGE, "assist": ASSIST}) == (Target("law", "strict"),)
    assert utility_targets({"assist": ASSIST}) == (Target("acme", "small"),)
    assert utility_targets({}) == ()
    assert utility_targets({}, mock=True) == (MOCK,)


@pytest.mark.parametrize(
    ("loop", "judged"),
    [
        (loop_of(IterationBound(2)), False),
        (loop_of(EvaluationBound("fine")), False),
        (loop_of(EvaluationBound("fine"), "llm"), True),
        (loop_of(IterationBound(2), "llm"), False),
        (loop_of(GoalBound("fine", 3)), True),
    ],
)
def test_RB_135_a_start_shows_every_role_once_and_the_judge_where_one_is_asked(loop: RoleLoop, judged: bool) -> None:
    asked = asked_of(loop, {"assist": ASSIST, "judge": JUDGE})
    small = (Target("acme", "small"),)
    roles = [("Role `coder`", small), ("Role `reviewer`", small)]
    assert asked == [*roles, ("The judge of the loop", (Target("law", "strict"),))] if judged else asked == roles


def test_RB_135_a_gate_that_a_model_decides_needs_one_and_a_goal_does_not() -> None:
    speaking: dict[str, Json] = {"roles": {"coder": ASSIST, "reviewer": ASSIST}}
    with pytest.raises(Refused, match="no judge model is configured"):
        asked_of(loop_of(EvaluationBound("fine"), "llm"), speaking)
    assert [who for who, _ in asked_of(loop_of(GoalBound("fine", 3)), speaking)] == ["Role `coder`", "Role `reviewer`"]
    with pytest.raises(Refused, match="No provider configured for role `reviewer`"):
        asked_of(loop_of(GoalBound("fine", 3)), {"roles": {"coder": ASSIST}})
