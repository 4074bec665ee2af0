"""Running a whole workflow: its elements in order, its result, and how it ended.

`WorkflowProgram` is what the engine knows of this format. Everything that costs or may differ goes
through the recorder, so running again after a crash takes the same way and pays nothing twice.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import cast

from loop_ls.contract.facts.kinds import Warned
from loop_ls.engine.bodies.context import Context, Finished, Frame, Result
from loop_ls.engine.bodies.elements import run_element
from loop_ls.engine.bodies.parallel import run_parallel
from loop_ls.engine.capabilities.guard import may_read
from loop_ls.engine.checks.run_checks import FactsOf, RunChecks, no_facts, run_checks
from loop_ls.engine.context.interpolation import expand_environment
from loop_ls.engine.context.loop_variables import AfterRefine
from loop_ls.engine.context.scope import Scope
from loop_ls.engine.context.workflow_library import Library
from loop_ls.engine.context.workspace_files import ProjectFiles
from loop_ls.engine.core.location import Place
from loop_ls.engine.core.loop_driver import Outcome
from loop_ls.engine.core.plan import Plan
from loop_ls.engine.core.ports import Failure, Models, Recorder
from loop_ls.engine.judges.choice import JudgeSettings
from loop_ls.engine.money.caps import Caps
from loop_ls.engine.tools import Sessions
from loop_ls.formats.workflow.model import Element, Loop, Step, Workflow
from loop_ls.text.json_value import JsonObject, as_object, int_field, text_field


@dataclass(frozen=True, slots=True)
class WorkflowProgram:
    """Runs of `workflow/v2.0` files. `environment` answers `${NAME}` in `env`; `variables` are what MCP
    servers may ask for, `facts_of` reads what has happened in a run so far."""

    environment: Callable[[str], str | None] = os.environ.get
    variables: Mapping[str, str] = field(default_factory=lambda: os.environ)
    facts_of: FactsOf = no_facts

    async def run(self, plan: Plan, recorder: Recorder, models: Models, within: Place | None = None) -> Outcome:
        """Run what the plan asks for; `within` is where in the run that is, where it is not all of it.
        Raises `Stopped` when a person stops the run."""
        servers = as_object(plan.settings.get("servers"))
        async with Sessions(servers, Path(plan.root), self.variables) as sessions:
            return await self._run(plan, recorder, models, None if plan.mock else sessions, within)

    async def _run(
        self, plan: Plan, recorder: Recorder, models: Models, sessions: Sessions | None, within: Place | None
    ) -> Outcome:
        library = Library.of(plan)
        context = Context(
            library=library,
            recorder=recorder,
            models=models,
            judging=JudgeSettings.of(plan.settings),
            environment=self.environment,
            sessions=sessions,
            files=ProjectFiles.of(plan.root, plan.settings),
            rag=as_object(plan.settings.get("rag")),
            run=run_workflow,
            max_iterations=plan.max_iterations,
            ceiling=int_field(as_object(plan.settings.get("limits")), "maxIterations"),
            checks=run_checks(plan, recorder, models, self.facts_of, within, plan.elements),
            depth=0 if within is None else within.depth + 1,
            item=(plan.target_name, item) if (item := int_field(plan.details, "item")) and plan.target_name else None,
            unchanged=Caps.of(plan.limits, plan.settings.get("limits")).unchanged,
        )
        try:
            key = library.key_of(plan.path)
            place = Place(workflow=key, file=plan.path) if within is None else within.called(key, plan.path)
            frame = Frame(context, key, library.workflow(key), place)
            scope = _with_pins(Scope(plan.input or "", arguments=plan.parameters), plan)
            target = plan.target_name if plan.target_kind in ("loop", "step") else None
            began = recorder.active()
            result = await _run(frame, scope, plan.elements, target)
            failure = await _checked(context.checks, place, result, began)
        except Failure as failed:
            return Outcome(failed.reason, failure=failed)
        if failure is not None and within is None:
            return Outcome(failure.reason, result.output or "", result.iterations, failure, last=result.output)
        return Outcome(result.reason, result.output or "", result.iterations, because=result.because)


async def _checked(checks: RunChecks | None, place: Place, result: Result, began: float) -> Failure | None:
    """Decide the checks of the result and of the run; the failure that all of them together are."""
    if checks is None:
        return None
    await checks.at_end(place, result.output, began)
    return checks.failure()


def _with_pins(scope: Scope, plan: Plan) -> Scope:
    """What the elements that are not run have given, as the start has recorded it in the order of a run."""
    for pin in _pins(plan):
        output, iterations = text_field(pin, "output"), int_field(pin, "iterations")
        loop = None if iterations is None else AfterRefine(iterations, output)
        accumulated = {name: str(text) for name, text in as_object(pin.get("accumulated")).items()}
        scope = Finished(text_field(pin, "name"), output, accumulated=accumulated, loop=loop).enter(scope)
    return scope


def _pins(plan: Plan) -> Iterable[JsonObject]:
    return cast("list[JsonObject]", as_object(plan.details.get("part")).get("pinned") or [])


async def run_workflow(frame: Frame, scope: Scope) -> Result:
    """Run all of a workflow. Raises `Failure` where it fails."""
    return await _run(frame, scope)


async def _run(frame: Frame, scope: Scope, only: Iterable[str] | None = None, target: str | None = None) -> Result:
    """Run the elements that are asked for; `target` is the one that gives the result, if one does."""
    scope = await _with_env(frame, scope)
    elements = chosen(frame.context.library.order(frame.key), only)
    in_turn = run_parallel if frame.workflow.execution.parallel else run_in_order
    finished = await in_turn(frame, scope, elements)
    whole = summed_up(frame.workflow, finished)
    return whole if target is None else _of_target(finished[target], whole)


async def run_in_order(frame: Frame, scope: Scope, elements: Sequence[Element]) -> dict[str, Finished]:
    """One element after the other; each sees all that finished before it."""
    finished: dict[str, Finished] = {}
    for element in elements:
        await frame.recorder.gate()
        finished[element.name] = await run_element(frame, element, scope)
        scope = finished[element.name].enter(scope)
    return finished


async def _with_env(frame: Frame, scope: Scope) -> Scope:
    env, unset = expand_environment(frame.workflow.env, _permitted(frame.context.environment))
    if unset:
        message = "`${{{name}}}` in `env` is not set in the environment, so it is empty"
        facts = [Warned(code="unset_variable", message=message.format(name=n)).fact(frame.place) for n in unset]
        await frame.recorder.record(frame.place.part("env"), facts)
    return replace(scope, env=env)


def _permitted(lookup: Callable[[str], str | None]) -> Callable[[str], str | None]:
    """Only variables that the start has told of: an edit between two rounds cannot add one."""
    return lambda name: lookup(name) if may_read(name) else None


def chosen(order: Iterable[Element], only: Iterable[str] | None) -> list[Element]:
    """The elements to run, in order: all, or those that a target needs."""
    if only is None:
        return list(order)
    wanted = set(only)
    return [element for element in order if element.name in wanted]


def summed_up(workflow: Workflow, finished: Mapping[str, Finished]) -> Result:
    """The workflow's result and why it counts as ended: a loop at its limit is no success."""
    loops = [done for done in finished.values() if done.loop is not None]
    reasons = [done.reason for done in loops]
    limits = [done for done in loops if done.reason not in ("condition_met", "completed")]
    reason = limits[0].reason if limits else ("condition_met" if "condition_met" in reasons else "completed")
    because = limits[0].because if limits else None
    return Result(_output(workflow, finished), reason, sum(done.iterations for done in loops), because)


def _of_target(done: Finished, whole: Result) -> Result:
    """The result of a run that was started for one element: a loop's own end counts, not those before it."""
    if done.loop is None:
        return replace(whole, output=done.output)
    return Result(done.output, done.reason, done.iterations, done.because)


def _output(workflow: Workflow, finished: Mapping[str, Finished]) -> str | None:
    """The last step in the list that was not skipped; without any step, the last loop."""
    ran = [element for element in workflow.elements if element.name in finished]
    steps = [element for element in ran if isinstance(element, Step)]
    if steps:
        return next((finished[s.name].output for s in reversed(steps) if not finished[s.name].skipped), None)
    return next((finished[loop.name].output for loop in reversed(ran) if isinstance(loop, Loop)), None)
