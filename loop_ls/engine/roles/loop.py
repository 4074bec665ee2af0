"""One role loop while it runs: what it was started with, and what its rounds remember."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypedDict, cast

from loop_ls.contract.facts.payload import Error
from loop_ls.engine.core.location import Place
from loop_ls.engine.core.loop_driver import Turn
from loop_ls.engine.core.ports import Models, Recorder
from loop_ls.engine.roles.agent import Agent
from loop_ls.engine.roles.findings import Findings
from loop_ls.engine.roles.outcome import for_prompt, one_line
from loop_ls.engine.roles.records.ids import artifact_id
from loop_ls.engine.roles.records.records import Records
from loop_ls.engine.roles.records.sprints import Sprints
from loop_ls.formats.common.target import Target
from loop_ls.formats.role_loop.model import EvaluationBound, GoalBound, RoleLoop
from loop_ls.formats.role_loop.roles import Role


class StageResult(TypedDict, total=False):
    """How a stage ended, in the record: with an output, and the id of the artifact that holds it, or a failure."""

    output: str
    artifact: str | None
    failure: Error


def recorded_stage(recorder: Recorder, place: Place) -> StageResult | None:
    """How a stage ended, where it did."""
    return cast("StageResult | None", recorder.recall(place.part("stage")))


@dataclass(frozen=True, slots=True)
class Started:
    """A snapshot: edits of the file do not reach it. `deadline` in Unix seconds; `ends_hard`: no stage
    begins after it. `limit` is asked each time, because people may change it."""

    run_id: str
    definition: RoleLoop
    goal: str
    roles: Mapping[str, Role]
    session: str
    project: Mapping[str, str]
    recorder: Recorder
    models: Models
    agent: Agent
    records: Records
    sprints: Sprints
    limit: Callable[[], int | None]
    utility: tuple[Target, ...] = ()
    deadline: float | None = None
    ends_hard: bool = False
    repeated: frozenset[str] = field(init=False, compare=False)  # labels that several stages have

    def __post_init__(self) -> None:
        labels = Counter(stage.label for stage in self.definition.stages)
        object.__setattr__(self, "repeated", frozenset(label for label, count in labels.items() if count > 1))

    @property
    def criteria(self) -> str:
        """What the loop works towards, besides its goal."""
        match self.definition.termination:
            case EvaluationBound(criteria=criteria):
                return criteria
            case GoalBound(goal_prompt=prompt):
                return prompt
            case _:
                return ""

    def stage_place(self, turn: Turn, index: int) -> Place:
        """Labels may repeat; places may not."""
        label = self.definition.stages[index].label
        return turn.place.element(f"{label}-{index + 1}" if label in self.repeated else label)

    def artifact(self, place: Place) -> str:
        return artifact_id(self.run_id, place.key)


@dataclass(slots=True)
class RoundMemory:
    """The memory of a role loop: one line for each iteration, the last output, and what its judges found wrong."""

    started: Started
    outcomes: list[str] = field(default_factory=list)
    rationale: str = ""
    last: str = ""
    findings: Findings = field(default_factory=Findings)

    def remember(self, turn: Turn, output: str) -> None:
        last = len(self.started.definition.stages) - 1
        role = self.started.definition.stages[last].role
        self.outcomes.append(f"Iteration {turn.number}: {one_line(role, 'completed', output)}")
        # What was taken over from another run has its artifact there.
        known = recorded_stage(self.started.recorder, self.started.stage_place(turn, last))
        self.last = for_prompt(output, known.get("artifact") if known else None)
