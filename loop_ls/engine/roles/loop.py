"""One role loop while it runs: what it was started with, and what its rounds remember."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypedDict, cast

from loop_ls.contract.facts.payload import Error
from loop_ls.engine.checks.judging import FailedChecks, StageOutput
from loop_ls.engine.core.location import Place
from loop_ls.engine.core.loop_driver import Turn
from loop_ls.engine.core.ports import Models, Recorder
from loop_ls.engine.roles.agent import Agent
from loop_ls.engine.roles.blocked import part_of
from loop_ls.engine.roles.findings import Findings
from loop_ls.engine.roles.outcome import for_prompt, one_line
from loop_ls.engine.roles.records.ids import artifact_id
from loop_ls.engine.roles.records.records import Records
from loop_ls.engine.roles.records.sprints import Sprints
from loop_ls.formats.common.target import Target
from loop_ls.formats.role_loop.model import EvaluationBound, GoalBound, RoleLoop
from loop_ls.formats.role_loop.roles import Role
from loop_ls.formats.role_loop.stage_names import stage_names


class StageResult(TypedDict, total=False):
    """How a stage ended, in the record: with an output, and the id of the artifact that holds it, or a failure."""

    output: str
    artifact: str | None
    failure: Error


def recorded_stage(recorder: Recorder, place: Place) -> StageResult | None:
    """How a stage ended, where it did: the last of its tries."""
    known, number = recorded_try(recorder, place, 1), 1
    while known is not None and (later := recorded_try(recorder, place, number + 1)) is not None:
        known, number = later, number + 1
    return known


def recorded_try(recorder: Recorder, place: Place, number: int) -> StageResult | None:
    """How one try of a stage ended; a person asked for every one after the first."""
    return cast("StageResult | None", recorder.recall(try_place(place, number).part("stage")))


def try_place(place: Place, number: int) -> Place:
    return place if number == 1 else part_of(place, f"try-{number}")


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
    names: tuple[str, ...] = field(init=False, compare=False)  # what places and checks call the stages

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", stage_names([stage.label for stage in self.definition.stages]))

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
        return turn.place.element(self.names[index])

    def outputs(self, turn: Turn) -> list[StageOutput]:
        """What the stages of an iteration have left."""
        found = list[StageOutput]()
        for index in range(len(self.definition.stages)):
            place = self.stage_place(turn, index)
            known = recorded_stage(self.recorder, place)
            if known is not None and "output" in known:
                found.append(StageOutput(place, self.names[index], known["output"]))
        return found

    def artifact(self, place: Place) -> str:
        return artifact_id(self.run_id, place.key)


@dataclass(slots=True)
class RoundMemory:
    """The memory of a role loop: one line for each iteration, the last output, and what its checks and judges found
    wrong."""

    started: Started
    outcomes: list[str] = field(default_factory=list)
    rationale: str = ""
    last: str = ""
    failed_checks: FailedChecks = field(default_factory=FailedChecks)
    findings: Findings = field(default_factory=Findings)

    def remember(self, turn: Turn, output: str) -> None:
        last = len(self.started.definition.stages) - 1
        role = self.started.definition.stages[last].role
        self.outcomes.append(f"Iteration {turn.number}: {one_line(role, 'completed', output)}")
        # What was taken over from another run has its artifact there.
        known = recorded_stage(self.started.recorder, self.started.stage_place(turn, last))
        self.last = for_prompt(output, known.get("artifact") if known else None)
