"""The definition of a role loop as it was when a run of it started, as the record of the run tells it."""

from __future__ import annotations

from dataclasses import asdict
from typing import assert_never, cast

from loop_ls.contract.answers import Configuration, ConfiguredRole
from loop_ls.engine.core.plan import Plan
from loop_ls.engine.roles.program import snapshot
from loop_ls.formats.role_loop.model import (
    EvaluationBound,
    GoalBound,
    IterationBound,
    Manual,
    RoleLoop,
    Stage,
    TimeBound,
    ToolBound,
)
from loop_ls.text.json_value import Json


def configuration(plan: Plan) -> Configuration:
    """Raises `Failure` where its text cannot be read."""
    loop = snapshot(plan)
    return {
        "name": loop.name,
        "description": loop.description,
        "roles": [_role(stage) for stage in loop.stages],
        "termination": {"type": loop.ends_by, "value": _value(loop)},
        "parameters": [asdict(one) for one in loop.parameters],
        "resolved_parameters": dict(loop.resolved),
        "max_rework_attempts": loop.max_rework_attempts,
    }


def _role(stage: Stage) -> ConfiguredRole:
    return {
        "role": stage.role,
        "label": stage.label,
        "prompt": stage.prompt,
        "max_iterations": stage.max_iterations,
        "skills": list(stage.skills),
        "gate": stage.gate,
    }


def _value(loop: RoleLoop) -> Json:
    """Of its termination, in the words of the file."""
    match loop.termination:
        case EvaluationBound(criteria=criteria, max_iterations=rounds):
            return {"criteria": criteria, "max_review_rounds": rounds}
        case IterationBound(max_iterations=number):
            return number
        case GoalBound(goal_prompt=prompt, max_iterations=number):
            return {"goal_prompt": prompt, "max_iterations": number}
        case TimeBound(seconds=seconds, deadline=deadline):
            return seconds if deadline is None else deadline.isoformat()
        case Manual():
            return None
        case ToolBound() as bound:
            return cast("Json", asdict(bound))
        case never:
            assert_never(never)
