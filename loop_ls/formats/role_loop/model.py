"""The values of a role-loop definition, as the engine runs them.

Plain values without places, defaults filled in. A limit is None where only the start of the loop can
say it: then a parameter without a text stands in its place. See `formats.read_role_loop`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from typing import Literal

from loop_ls.formats.role_loop import keys
from loop_ls.text.json_value import Json
from loop_ls.text.record import equal_record

ApprovalMode = Literal["keyword", "verdict_line", "llm"]

#: Rounds of `evaluation_bound` where the definition does not say.
REVIEW_ROUNDS = 5
REWORK_ATTEMPTS = 3


@equal_record
class Parameter:
    """`default` is None where there is none; the empty text is one."""

    name: str
    description: str = ""
    required: bool = True
    default: str | None = None


@equal_record
class Stage:
    """`label` is the name in progress and history. `requires_artifact_from` is an index in run order."""

    role: str
    label: str
    prompt: str
    skills: tuple[str, ...] = ()
    max_iterations: int | None = None
    requires_artifact_from: int | None = None
    gate: bool = False
    artifact_required: bool = False
    memory_required: bool = False


@equal_record
class EvaluationBound:
    """The word of the last stage ends the loop."""

    criteria: str
    max_iterations: int | None = REVIEW_ROUNDS


@equal_record
class IterationBound:
    max_iterations: int | None = 1


@equal_record
class GoalBound:
    """A model that looks at the goal ends the loop."""

    goal_prompt: str
    max_iterations: int | None


@equal_record
class TimeBound:
    """Seconds from the start, or a date; both None while a parameter decides."""

    seconds: int | None = None
    deadline: datetime | None = None
    hard: bool = False


@equal_record
class Manual:
    """Only a person ends the loop."""


@equal_record
class ToolBound:
    """The number that a tool gives ends the loop."""

    tool: str
    operator: str
    threshold: float | None
    max_iterations: int | None
    arguments: Mapping[str, Json] = field(default_factory=dict)


Termination = EvaluationBound | IterationBound | GoalBound | TimeBound | Manual | ToolBound
_TYPES: Mapping[type[Termination], str] = {
    EvaluationBound: keys.EVALUATION,
    IterationBound: keys.ITERATIONS,
    GoalBound: keys.GOAL,
    TimeBound: keys.TIME,
    Manual: keys.MANUAL,
    ToolBound: keys.TOOL,
}


@equal_record
class Approval:
    """`signals` are words of approval besides the usual ones."""

    mode: ApprovalMode = "keyword"
    signals: tuple[str, ...] = ()


@equal_record
class RoleLoop:
    """`stages` are in run order. `resolved` are the texts that were filled in, by parameter; one that has
    none yet is missing there. `limit_parameter` is the one that says how many iterations there may be."""

    name: str
    description: str
    stages: tuple[Stage, ...]
    termination: Termination = IterationBound()
    parameters: tuple[Parameter, ...] = ()
    approval: Approval = Approval()
    max_rework_attempts: int = REWORK_ATTEMPTS
    version: int = 1
    resolved: Mapping[str, str] = field(default_factory=dict)
    limit_parameter: str | None = None

    @property
    def max_iterations(self) -> int | None:
        """The limit that its termination has; None where nothing bounds it, or only time does."""
        match self.termination:
            case TimeBound() | Manual():
                return None
            case bounded:
                return bounded.max_iterations

    @property
    def ends_by(self) -> str:
        """The type of its termination, as files write it."""
        return _TYPES[type(self.termination)]

    def at_limit(self, limit: int | None) -> Mapping[str, str]:
        """The parameters of an iteration: the one that is the limit says how many there may be by now."""
        name = self.limit_parameter
        if name is None or name not in self.resolved:
            return self.resolved
        return {**self.resolved, name: "unlimited" if limit is None else str(limit)}

    @property
    def missing(self) -> tuple[str, ...]:
        """The parameters that a start has to give."""
        return tuple(one.name for one in self.parameters if one.required and one.name not in self.resolved)
