"""A refine loop: call a workflow, ask its condition, until it is met or a limit is reached.

The turning itself is the driver's; here is what a workflow loop puts into it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from loop_ls.contract.endings import FAILINGS
from loop_ls.contract.facts.kinds import Warned
from loop_ls.engine.bodies.called import arguments_of, call_workflow
from loop_ls.engine.bodies.context import Finished, Frame
from loop_ls.engine.bodies.limits import limits_of
from loop_ls.engine.checks.judging import ChecksThenJudge, FailedChecks, LoopChecks
from loop_ls.engine.context.interpolation import check_known
from loop_ls.engine.context.loop_variables import AfterRefine, BeforeIteration, joined
from loop_ls.engine.context.scope import Scope
from loop_ls.engine.core.location import Place
from loop_ls.engine.core.loop_driver import History, Judge, LoopParts, Outcome, Turn, drive
from loop_ls.engine.core.ports import Failure
from loop_ls.engine.judges.choice import Choice, choose_judge
from loop_ls.engine.judges.condition import UntilJudge
from loop_ls.formats.workflow.loop_keys import LOOP
from loop_ls.formats.workflow.model import Execution, Loop


@dataclass(frozen=True, slots=True)
class CalledIteration:
    """The body: one iteration is one call of the loop's workflow, isolated from the others."""

    frame: Frame
    loop: Loop
    scope: Scope
    history: History
    failed: FailedChecks

    async def run(self, turn: Turn) -> str:
        values = BeforeIteration(turn.number, self.history.so_far())
        arguments = arguments_of(self.loop.arguments, self.scope.with_loop(values), without=values.get("output") or "")
        check_known(
            LOOP.keys["with"],
            self.loop.name,
            arguments.unknown,
            "in iteration 1 only `loop.iteration`, `loop.last.output`, `loop.history` and the results are available",
        )
        if told := self.failed.text():
            arguments = replace(arguments, input=f"{arguments.input}\n\n{told}")
        output = await call_workflow(self.frame, self.loop.workflow, arguments, values, turn.place)
        if output is None:
            raise Failure("no_result", f"`{self.loop.workflow}` returned no result: none of its steps ran")
        return output


async def run_refine(frame: Frame, loop: Loop, scope: Scope, place: Place) -> Finished:
    """Drive the loop to its end. Raises `Failure` where the loop fails the workflow."""
    context, limits, failed_checks = frame.context, limits_of(frame, loop), FailedChecks()
    skipped = frame.recorder.skipped(loop.name, place)
    if skipped.last is not None:
        limits = replace(limits, max_iterations=skipped.last)
    history = History(skipped.earlier)
    judge: Judge = UntilJudge(loop.until or "", judge_of(frame, loop), scope, history, context.models, context.recorder)
    if frame.checks is not None:
        judge = ChecksThenJudge(LoopChecks((loop.name,), frame.checks, failed_checks), judge)
    parts = LoopParts(
        name=loop.name,
        place=place,
        body=CalledIteration(frame, loop, scope, history, failed_checks),
        memory=history,
        limits=limits,
        judge=judge,
        before=skipped.before,
    )
    outcome = await drive(parts, frame.recorder)
    if outcome.reason in FAILINGS:
        raise failed(loop, outcome)
    if not history.outputs:
        message = f"no iteration of `{loop.name}` succeeded; its output is empty"
        fact = Warned(code="no_iteration_succeeded", message=message).fact(place)
        await frame.recorder.record(place.part("nothing"), [fact])
    return Finished(
        loop.name,
        outcome.output,
        accumulated={loop.accumulate: joined(history.so_far().all())} if loop.accumulate else {},
        loop=AfterRefine(outcome.iterations, outcome.output),
        reason=outcome.reason,
        iterations=outcome.iterations,
        because=outcome.because,
    )


def failed(loop: Loop, outcome: Outcome) -> Failure:
    """How a failed loop fails what it stands in: for the same reason."""
    cause = outcome.failure
    if cause is None:
        return Failure(outcome.reason, f"the loop `{loop.name}` ended with `{outcome.reason}`", reason=outcome.reason)
    return Failure(cause.code, f"`{loop.name}`: {cause.message}", cause.hint, outcome.reason, cause.place)


def judge_of(frame: Frame, loop: Loop) -> Choice:
    return choose_judge(loop, frame.workflow.execution, _callee(frame, loop), frame.context.judging)


def _callee(frame: Frame, loop: Loop) -> Execution:
    """The called workflow's `execution`; a missing one fails the iterations, not the question who judges."""
    try:
        library = frame.context.library
        return library.workflow(library.called(frame.key, loop.workflow)).execution
    except Failure:
        return Execution()
