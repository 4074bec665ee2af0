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
    kind, value = _termination(loop)
    return {
        "name": loop.name,
        "description": loop.description,
        "roles": [_role(stage) for stage in loop.stages],
        "termination": {"type": kind, "value": value},
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


def _termination(loop: RoleLoop) -> tuple[str, Json]:
    """In the words of the file."""
    match loop.termination:
        case EvaluationBound(criteria=criteria, max_iterations=rounds):
            return "evaluation_bound", {"criteria": criteria, "max_review_rounds": rounds}
        case IterationBound(max_iterations=number):
            return "iteration_bound", number
        case GoalBound(goal_prompt=prompt, max_iterations=number):
            return "goal_bound", {"goal_prompt": prompt, "max_iterations": number}
        case TimeBound(seconds=seconds, deadline=deadline):
            return "time_bound", seconds if deadline is None else deadline.isoformat()
        case Manual():
            return "manual", None
        case ToolBound() as bound:
            return "tool_bound", cast("Json", asdict(bound))
        case never:
            assert_never(never)
