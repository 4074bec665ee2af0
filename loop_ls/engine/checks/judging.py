"""Checks of a loop before its judge: while one fails, the loop is not done and nobody is asked.

The same for all loop systems. What failed is told in the next iteration, the end of what a command printed included.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from loop_ls.contract.endings import CHECKS, Judgement
from loop_ls.contract.facts.kinds import Judged
from loop_ls.engine.checks.outcome import Outcome, feedback
from loop_ls.engine.checks.run_checks import RunChecks
from loop_ls.engine.core.fixation import normalised
from loop_ls.engine.core.location import Place
from loop_ls.engine.core.loop_driver import Evidence, Judge, Turn, Verdict
from loop_ls.engine.core.loop_driver import Outcome as LoopOutcome
from loop_ls.engine.judges.test_command import TAIL, failing_tests

#: So many failing tests are named in a sentence.
_NAMED = 5


class FailedChecks:
    """What the last iteration failed, for the next one: the judge writes it, the body hands it on."""

    def __init__(self) -> None:
        self.lines: tuple[str, ...] = ()

    def text(self) -> str:
        """Empty where nothing failed."""
        if not self.lines:
            return ""
        return "\n".join(("The previous iteration failed these checks:", *(f"- {line}" for line in self.lines)))


class StageOutput(NamedTuple):
    """What a stage of an iteration has left."""

    place: Place
    name: str
    output: str


@dataclass(frozen=True, slots=True)
class LoopChecks:
    """The checks of one loop. `names` are those that `on: loop.NAME` calls it by. `alone`: the run is this loop, so
    what an iteration puts out is its result."""

    names: tuple[str, ...]
    checks: RunChecks
    failed: FailedChecks = field(default_factory=FailedChecks)
    alone: bool = False

    @property
    def decide(self) -> bool:
        """Whether some of them say of an iteration that it is not good enough."""
        return any(one.on.kind != "run" and one.severity == "error" for one in self.checks.asked)

    async def refused(self, turn: Turn, output: str, stages: Sequence[StageOutput] = ()) -> Verdict | None:
        """What the checks find wrong with an iteration, told and kept for the next one; None: nothing."""
        found = [one for stage in stages for one in await self.after_stage(stage)]
        found += await self.checks.after_iteration(turn.place, self.names, turn.number, output, self.alone)
        failing = [one for one in found if one.fails]
        self.failed.lines = feedback(failing)
        if not failing:
            return None
        told = "\n".join(line.partition("\n")[0] for line in self.failed.lines)
        await self._say(turn, "no", told)
        return Verdict("no", answer=told, evidence=evidence_of(failing))

    async def after_stage(self, stage: StageOutput) -> list[Outcome]:
        """Decides the checks of a stage; those that are decided are read from the record."""
        return await self.checks.after_step(stage.place, stage.name, stage.output, "stage")

    async def met(self, turn: Turn) -> None:
        """Says that the checks alone end the loop."""
        await self._say(turn, "yes", "all checks passed")

    async def _say(self, turn: Turn, word: Judgement, told: str) -> None:
        judged = Judged(
            criterion=CHECKS,
            verdict=word,
            iteration=turn.number,
            output_ref=turn.place.key,
            answer=told,
            local=True,
        )
        await self.checks.recorder.record(turn.place.part("checks"), [judged.fact(turn.place)])

    async def at_end(self, place: Place, outcome: LoopOutcome) -> LoopOutcome:
        """How the run ends: failed where a check fails its last iteration, or the run as a whole."""
        if outcome.failure is not None:
            return outcome
        output = outcome.output if outcome.last is None else outcome.last
        await self.checks.at_end(place, output if outcome.iterations else None, 0.0, alone=self.alone)
        failure = self.checks.failure()
        if failure is None:
            return outcome
        return replace(outcome, reason=failure.reason, failure=failure, last=output, because=None)


@dataclass(frozen=True, slots=True)
class ChecksThenJudge:
    checks: LoopChecks
    judge_after: Judge

    async def judge(self, turn: Turn, output: str) -> Verdict:
        return await self.checks.refused(turn, output) or await self.judge_after.judge(turn, output)


def evidence_of(failing: Iterable[Outcome]) -> Evidence:
    """What shows that the same is still wrong: failing tests where a command names them, else all that is said."""
    tests, others = list[str](), list[Outcome]()
    for one in failing:
        named = failing_tests(one.reason) if one.check.type == "command" else ()
        tests += named
        others += () if named else (one,)
    name = "\n".join([*tests, *(normalised(f"{one.check.name}: {one.reason}", TAIL) for one in others)])
    if tests:
        more = f" and {len(tests) - _NAMED} more" if len(tests) > _NAMED else ""
        return Evidence(name, f"the same tests failed: {', '.join(tests[:_NAMED])}{more}")
    if len(others) == 1 and others[0].check.type == "command":
        told = others[0].reason.partition("\n")[0]
        return Evidence(name, f"the command failed in the same way: {told}")
    return Evidence(name, f"the same checks failed: {', '.join(one.check.name for one in others)}")
