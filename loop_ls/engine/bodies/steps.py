"""One step of a workflow: its `if`, its tries, and what a failure means.

What a step does is in the modules of its modes; here is what all modes have in common.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from loop_ls.contract.facts.kinds import Retrying, StepCompleted, StepFailed, StepSkipped, StepStarted, Warned
from loop_ls.contract.facts.payload import Fact
from loop_ls.engine.bodies.context import Finished, Frame
from loop_ls.engine.bodies.limits import further_tries
from loop_ls.engine.context.if_condition import condition_holds
from loop_ls.engine.context.interpolation import undefined
from loop_ls.engine.context.scope import Scope
from loop_ls.engine.core.location import Place
from loop_ls.engine.core.loop_driver import error_of
from loop_ls.engine.core.ports import Failure
from loop_ls.formats.workflow.keys import STEP
from loop_ls.formats.workflow.model import Consensus, Embeddings, Execution, Loop, Rag, Step, Template


@dataclass(frozen=True, slots=True)
class Try:
    """One try of one step. `place` is the step's own, the same in every try; `key` tells tries apart."""

    frame: Frame
    step: Step
    scope: Scope
    place: Place
    attempt: int = 1

    @property
    def inner(self) -> Place:
        """The place of what this try calls: a further try has keys of its own."""
        return self.place if self.attempt == 1 else replace(self.place, key=self.place.part(str(self.attempt)))

    @property
    def retried(self) -> bool:
        """Whether the step has a rule of its own for trying again."""
        return self.step.on_failure == "retry"

    def started(self) -> Fact:
        return StepStarted(step=self.step.name, mode=mode_name(self.step), attempt=self.attempt).fact(self.place)

    def completed(self, output: str) -> Fact:
        return StepCompleted(step=self.step.name, mode=mode_name(self.step), output=output).fact(self.place)

    def unknown(self, names: Sequence[str], where: str) -> list[Fact]:
        """One warning for each name that nothing defines and that stays as written (D40)."""
        run = STEP.keys["run"]
        return [
            Warned(code="unknown_variable", message=undefined(where, (name,), run)).fact(self.place) for name in names
        ]


async def is_due(frame: Frame, step: Step, scope: Scope, place: Place) -> bool:
    """Whether the step's `if` holds. Decided once: a replay after a restart takes the same way."""
    if step.condition is None:
        return True
    key = place.part("if")
    known = frame.recorder.recall(key)
    if known is not None:
        return bool(known)
    held = condition_holds(step.condition, scope)
    where, key_of_if = f"`if` of `{step.name}`", STEP.keys["if"]
    facts = [
        Warned(code="unknown_variable", message=undefined(where, (name,), key_of_if)).fact(place)
        for name in held.unknown
    ]
    if not held.holds:
        facts.append(StepSkipped(step=step.name, mode=mode_name(step), condition=step.condition).fact(place))
    await frame.recorder.record(key, facts, answer=held.holds)
    return held.holds


def tries(step: Step) -> int:
    """How often a failing step is tried in all."""
    if step.on_failure != "retry":
        return 1
    return 1 + further_tries(step.max_retries)


def goes_on(step: Step, execution: Execution) -> bool:
    """Whether the workflow goes on with an empty result when the step has failed for good. With
    `parallel`, `on_error` says what becomes of the others instead."""
    policy = step.on_failure or (None if execution.parallel else execution.on_error)
    return policy == "continue"


async def retrying(attempt: Try, failure: Failure) -> None:
    """Note that a failed step is tried again."""
    fact = Retrying(attempt=attempt.attempt + 1, because=error_of(failure)).fact(attempt.place)
    await attempt.frame.recorder.record(attempt.inner.part("retrying"), [fact])


async def swallowed(frame: Frame, step: Step, place: Place, failure: Failure) -> Finished:
    """Note a failure that does not end the workflow: the step leaves empty text."""
    await note_failure(frame, step, place, failure)
    return Finished(step.name, failure=failure, reason=failure.reason)


async def note_failure(frame: Frame, step: Step, place: Place, failure: Failure) -> None:
    fact = StepFailed(step=step.name, mode=mode_name(step), error=error_of(failure), reason=failure.reason).fact(place)
    await frame.recorder.record(place.part("failed"), [fact])


def mode_name(step: Step) -> str:
    """The mode key of a step, as the file writes it."""
    match step.mode:
        case str():
            return "run"
        case Template():
            return "template"
        case Loop():
            return "loop"
        case Consensus():
            return "consensus"
        case Rag():
            return "rag"
        case Embeddings():
            return "embeddings"
