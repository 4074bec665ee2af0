"""Runs of role loops: the definition as it was when the loop started, put together for the one driver.

Body, judge and memory are those of this room; everything else of a run is as for every other format.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC
from typing import Protocol, cast

from loop_ls.contract.facts.kinds import DeadlineSet
from loop_ls.engine.checks.judging import LoopChecks
from loop_ls.engine.checks.run_checks import FactsOf, RunChecks, no_facts, run_checks
from loop_ls.engine.core.location import Place
from loop_ls.engine.core.loop_driver import Limits, LoopParts, Outcome, as_planned, drive
from loop_ls.engine.core.plan import Plan
from loop_ls.engine.core.ports import Failure, Models, Recorder, Stopped
from loop_ls.engine.events import utc
from loop_ls.engine.roles.agent import Agent
from loop_ls.engine.roles.body import BLOCKED, DEADLINE, NO_ARTIFACT, Rounds
from loop_ls.engine.roles.judging import REWORK, RoundJudge
from loop_ls.engine.roles.loop import RoundMemory, Started
from loop_ls.engine.roles.measuring import Measure
from loop_ls.engine.roles.outcome import first_line
from loop_ls.engine.roles.records.null_records import NullRecords
from loop_ls.engine.roles.records.records import Records
from loop_ls.engine.roles.records.sprints import Sprints
from loop_ls.engine.roles.records.stores import Unavailable
from loop_ls.engine.roles.targets import utility_targets
from loop_ls.formats.role_loop.model import IterationBound, RoleLoop, TimeBound
from loop_ls.formats.role_loop.placeholders import fill
from loop_ls.formats.role_loop.read import read_role_loop
from loop_ls.formats.role_loop.roles import known_roles
from loop_ls.text.json_value import Json, as_object, int_field

#: How an iteration failed -> why the loop ended, where that is no failure of a stage.
_ENDS = {DEADLINE: "deadline", BLOCKED: "question", NO_ARTIFACT: "missing_artifact"}


class StageAgents(Agent, Protocol):
    """Who does the work of one run."""

    async def measure(self, key: str, tool: str, arguments: Mapping[str, Json]) -> str:
        """What one tool answers, for `tool_bound`, recorded under `key`. Raises `Failure`."""
        ...

    async def close(self) -> None:
        """Let go of everything that the run has opened."""
        ...


#: Makes the agents of one run.
StageAgentsOf = Callable[[Plan, Recorder, Models], StageAgents]


@dataclass(frozen=True, slots=True)
class RoleLoopProgram:
    """`facts_of` reads what has happened in a run so far."""

    records: Records
    stage_agents: StageAgentsOf
    facts_of: FactsOf = no_facts

    def retold(self, recall: Callable[[str], Json]) -> RoleLoopProgram:
        """See `engine.projections.prompts.Replayable`."""
        return replace(self, records=NullRecords(self.records))

    async def run(self, plan: Plan, recorder: Recorder, models: Models) -> Outcome:
        """Raises `Stopped` when a person stops the run."""
        stage_agents = self.stage_agents(plan, recorder, models)
        try:
            started = await self._started(plan, recorder, models, stage_agents)
            checks = run_checks(plan, recorder, models, self.facts_of)
            return await _driven(plan, started, stage_agents.measure, checks)
        finally:
            await stage_agents.close()

    async def _started(self, plan: Plan, recorder: Recorder, models: Models, agent: Agent) -> Started:
        definition = snapshot(plan)
        project = str(plan.details.get("projectId") or "")
        try:
            found = await self.records.project(project) or {"id": project}
        except Unavailable:
            found = {"id": project}
        base = Started(
            run_id=recorder.run_id,
            definition=definition,
            goal=fill(plan.goal or "", definition.resolved).text,
            roles=known_roles(as_object(plan.settings.get("roles"))),
            session=plan.session_id or "",
            project={**_shown(found, plan.goal or ""), "folder": plan.root},
            recorder=recorder,
            models=models,
            agent=agent,
            records=self.records,
            sprints=Sprints(self.records, recorder.run_id, definition.name, project, None),
            limit=lambda: cast("int | None", recorder.changed().get("maxIterations", plan.max_iterations)),
            utility=utility_targets(plan.settings, plan.mock),
        )
        sprints = Sprints(self.records, recorder.run_id, definition.name, project, base.criteria or None)
        deadline, hard = await _deadline(definition, recorder)
        if deadline is not None:
            await recorder.record(":deadline", [DeadlineSet(deadline=utc(deadline)).fact()])
        return replace(base, sprints=sprints, deadline=deadline, ends_hard=hard)


async def _driven(plan: Plan, started: Started, measure: Measure | None, declared: RunChecks | None) -> Outcome:
    memory, name = RoundMemory(started), started.definition.name
    place = Place(file=plan.path).element(name)
    checks = None if declared is None else LoopChecks((name,), declared, memory.failed_checks, alone=True)
    judge = RoundJudge(started, memory, measure, checks)
    limits = Limits(plan.max_iterations, unchanged=int_field(plan.limits, "unchanged"))
    body = Rounds(started, memory, checks)
    parts = LoopParts(started.definition.name, place, body, memory, limits, judge, started.limit)
    try:
        outcome = await drive(parts, started.recorder)
    except Stopped:
        await started.sprints.cancel(len(memory.outcomes))
        await started.sprints.cancel(len(memory.outcomes) + 1)
        raise
    ended = await _ended(started, judge, outcome)
    return ended if checks is None else await checks.at_end(place, ended)


async def _ended(started: Started, judge: RoundJudge, outcome: Outcome) -> Outcome:
    failure = outcome.failure
    if failure is None:
        if outcome.reason == REWORK:
            told = f"the gate rejected {judge.refused} times in a row, the last time: {first_line(outcome.output)}"
            return replace(outcome, failure=Failure(REWORK, told, "change the task, and start it again"))
        return as_planned(outcome) if _was_planned(started, outcome) else outcome
    reason = _ENDS.get(failure.code)
    match reason:
        case "deadline":
            await started.sprints.cancel(outcome.iterations)
            return replace(outcome, reason=reason, failure=None)
        case _:
            await started.sprints.end(outcome.iterations, "rejected", failure.message)
            return replace(outcome, reason=reason or outcome.reason)


def _was_planned(started: Started, outcome: Outcome) -> bool:
    """A number of iterations is all that the definition asks for, and so many there were."""
    end = started.definition.termination
    return isinstance(end, IterationBound) and outcome.iterations >= (end.max_iterations or 1)


def snapshot(plan: Plan) -> RoleLoop:
    """The definition with the parameters of the start filled in; the one that is its limit is what the start, or the
    project, made of it. Raises `Failure`."""
    text, roles = plan.texts[plan.path], known_roles(as_object(plan.settings.get("roles")))
    found = read_role_loop(text, plan.parameters, roles)
    if (
        isinstance(found, RoleLoop)
        and found.limit_parameter
        and plan.max_iterations not in (None, found.max_iterations)
    ):
        found = read_role_loop(text, {**plan.parameters, found.limit_parameter: str(plan.max_iterations)}, roles)
    if isinstance(found, RoleLoop):
        return found
    raise Failure("file_has_errors", f"{plan.path}: {found[0].code}: {found[0].message}")


async def _deadline(definition: RoleLoop, recorder: Recorder) -> tuple[float | None, bool]:
    """When the time is up (Unix seconds), and whether the iteration that is at work is ended then."""
    end = definition.termination
    if not isinstance(end, TimeBound):
        return None, False
    if end.deadline is not None:
        moment = end.deadline if end.deadline.tzinfo else end.deadline.replace(tzinfo=UTC)
        return moment.timestamp(), end.hard
    return await recorder.now(":began") + (end.seconds or 0), end.hard


def _shown(project: Mapping[str, Json], goal: str) -> dict[str, str]:
    """What its stages are told of it. Title and description are those of the first loop of the project: to a loop with
    another goal they would be a second, wrong instruction."""
    words = ("title", "description") if project.get("description") == goal else ()
    return {name: str(project.get(name) or "") for name in ("id", *words, "slug", "status")}
