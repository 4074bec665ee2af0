"""One element of a workflow, a step or a top-level loop, from due to finished."""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from loop_ls.contract.facts.kinds import StepCompleted, StepFailed, StepStarted
from loop_ls.contract.facts.payload import Error
from loop_ls.engine.bodies.called import run_template
from loop_ls.engine.bodies.consensus import run_consensus
from loop_ls.engine.bodies.context import Finished, Frame
from loop_ls.engine.bodies.embeddings import run_embeddings
from loop_ls.engine.bodies.iterate import run_iterate
from loop_ls.engine.bodies.rag import run_rag
from loop_ls.engine.bodies.refine import run_refine
from loop_ls.engine.bodies.run_mode import run_prompt
from loop_ls.engine.bodies.steps import (
    Try,
    goes_on,
    is_due,
    mode_name,
    note_failure,
    retrying,
    swallowed,
    tries,
)
from loop_ls.engine.context.scope import Scope
from loop_ls.engine.core.location import Place
from loop_ls.engine.core.loop_driver import error_of
from loop_ls.engine.core.ports import Failure
from loop_ls.formats.workflow.model import Consensus, Element, Embeddings, Loop, Rag, Step, Template


async def run_element(frame: Frame, element: Element, scope: Scope) -> Finished:
    """Run one element, then decide its checks. Raises `Failure` where its failure ends the workflow."""
    place = frame.place.element(element.name)
    finished = await _run(frame, element, scope, place)
    if frame.checks is not None:
        output = None if finished.skipped else finished.output
        await frame.checks.after_step(place, element.name, output)
    return finished


async def _run(frame: Frame, element: Element, scope: Scope, place: Place) -> Finished:
    match element:
        case Loop():
            return await _run_loop(frame, element, scope, place)
        case Step():
            return await _run_step(frame, element, scope, place)
        case _:
            assert_never(element)


async def _run_step(frame: Frame, step: Step, scope: Scope, place: Place) -> Finished:
    if not await is_due(frame, step, scope, place):
        return Finished(step.name, skipped=True)
    allowed = tries(step)
    for number in range(1, allowed + 1):
        attempt = Try(frame, step, scope, place, number)
        try:
            return await _run_mode(attempt)
        except Failure as failure:
            if number < allowed:
                await retrying(attempt, failure)
            elif goes_on(step, frame.workflow.execution):
                return await swallowed(frame, step, place, failure)
            else:
                await note_failure(frame, step, place, failure)
                raise _at(failure, place) from failure
    raise AssertionError("a step has at least one try")


async def _run_mode(attempt: Try) -> Finished:
    mode = attempt.step.mode
    match mode:
        case str():
            return await run_prompt(attempt, mode)
        case Template():
            return await run_template(attempt, mode)
        case Loop():
            return await _run_loop_of_step(attempt, mode)
        case Consensus():
            return await run_consensus(attempt, mode)
        case Embeddings():
            return await run_embeddings(attempt, mode)
        case Rag():
            return await run_rag(attempt, mode)
        case _:
            assert_never(mode)


async def _run_loop(frame: Frame, loop: Loop, scope: Scope, place: Place) -> Finished:
    """A top-level loop: its own `on_failure` has the last word, `on_error` is for steps."""
    recorder = frame.recorder
    await recorder.record(place.part("started"), [_started(loop, loop.name).fact(place)])
    try:
        finished = await _loop_body(frame, loop, scope, place)
    except Failure as failure:
        fact = StepFailed(step=loop.name, mode="loop", error=error_of(failure), reason=failure.reason).fact(place)
        await recorder.record(place.part("failed"), [fact])
        raise _at(failure, place) from failure
    await recorder.record(place.part("completed"), [_completed(finished).fact(place)])
    return finished


async def _run_loop_of_step(attempt: Try, loop: Loop) -> Finished:
    recorder, inner = attempt.frame.recorder, attempt.inner
    started = _started(loop, attempt.step.name).model_copy(update={"attempt": attempt.attempt})
    await recorder.record(inner.part("started"), [started.fact(attempt.place)])
    finished = await _loop_body(attempt.frame, replace(loop, name=attempt.step.name), attempt.scope, inner)
    await recorder.record(inner.part("completed"), [_completed(finished).fact(attempt.place)])
    return finished


async def _loop_body(frame: Frame, loop: Loop, scope: Scope, place: Place) -> Finished:
    match loop.mode:
        case "refine":
            return await run_refine(frame, loop, scope, place)
        case "iterate":
            return await run_iterate(frame, loop, scope, place)
        case _:
            assert_never(loop.mode)


async def note_cancelled(frame: Frame, element: Element, because: Element) -> None:
    """Note that an element was ended because another one failed (`on_error: cancel_all`)."""
    place = frame.place.element(element.name)
    mode = "loop" if isinstance(element, Loop) else mode_name(element)
    error = Error(code="cancelled", message=f"ended because `{because.name}` failed")
    fact = StepFailed(step=element.name, mode=mode, error=error).fact(place)
    await frame.recorder.record(place.part("cancelled"), [fact])


def _started(loop: Loop, name: str) -> StepStarted:
    return StepStarted(step=name, mode="loop", condition=loop.until, max_iterations=loop.max_iterations)


def _completed(finished: Finished) -> StepCompleted:
    return StepCompleted(
        step=finished.name,
        mode="loop",
        output=finished.output,
        reason=finished.reason,
        total_iterations=finished.iterations,
    )


def _at(failure: Failure, place: Place) -> Failure:
    """The failure with the place where it came from, the innermost one that is known."""
    return failure if failure.place else Failure(failure.code, failure.message, failure.hint, failure.reason, place.key)
