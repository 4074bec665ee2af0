"""The one loop machine: run a body, ask a judge, remember, respect limits, obey control, report facts.

Pure: no database, network, clock or process. Every loop system is a set of parts for `drive`; what they
call goes through the recorder, so a replay after a crash takes the same way without paying again.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple, Protocol, TypedDict, cast

from loop_ls.contract.endings import Judgement
from loop_ls.contract.facts.kinds import (
    Iteration,
    IterationFailed,
    IterationStarted,
    Retrying,
    UnchangedOutputWarning,
    Warned,
)
from loop_ls.contract.facts.payload import Error, Fact, UnfixableFailure
from loop_ls.engine.core.fixation import EvidenceCounter, FixationCounter, worth_saying
from loop_ls.engine.core.location import Place
from loop_ls.engine.core.ports import Earlier, Failure, FailureFields, ModelFailure, NoOutputs, Recorder
from loop_ls.engine.core.time_limit import OVER_TIME, within

OnFailure = Literal["halt", "continue", "retry"]


@dataclass(frozen=True, slots=True)
class Turn:
    """One try of one iteration. `place.key` is its logical key (`develop/3`)."""

    place: Place
    number: int
    attempt: int = 1


class Evidence(NamedTuple):
    """What shows that an iteration is not done: `name` is the same as long as the same is wrong, `told` says it."""

    name: str
    told: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the judge found. `exit` is the reason to leave the loop; None: go on.
    `because` says why, where that is no success."""

    verdict: Judgement
    exit: str | None = None
    answer: str = ""
    because: str | None = None
    evidence: Evidence | None = None


class Body(Protocol):
    """Does one iteration: its output, or `Failure`/`ModelFailure`. Paid calls go through the recorder."""

    async def run(self, turn: Turn) -> str: ...


class Judge(Protocol):
    """Asked after each success. Journals `judged` itself, in one transaction with the answer."""

    async def judge(self, turn: Turn, output: str) -> Verdict: ...


class Memory(Protocol):
    """Hears of each success before the judge is asked; body and judge of one system share theirs."""

    def remember(self, turn: Turn, output: str) -> None: ...


@dataclass(frozen=True, slots=True)
class Outputs:
    """What came out of the iterations of a loop so far, in order."""

    known: tuple[str, ...] = ()
    earlier: Earlier = NoOutputs()  # noqa: RUF009 - it has no state

    def last(self, back: int = 1) -> str:
        """The last but `back - 1`; empty where there are not so many."""
        here = len(self.known)
        return self.known[-back] if back <= here else self.earlier.last(back - here)

    def all(self) -> Sequence[str]:
        return (*self.earlier, *self.known)


class History:
    """The memory of workflow loops: all outputs so far, in order. `earlier` are those before the first iteration
    that is gone through."""

    def __init__(self, earlier: Earlier = NoOutputs()) -> None:  # noqa: B008 - it has no state
        self.outputs: list[str] = []
        self._earlier = earlier

    def so_far(self) -> Outputs:
        return Outputs(tuple(self.outputs), self._earlier)

    def remember(self, turn: Turn, output: str) -> None:
        self.outputs.append(output)


@dataclass(frozen=True, slots=True)
class Limits:
    """Durations in seconds. `max_retries` counts further tries of the same iteration. So many iterations in
    a row as `unchanged` says end the loop, where their outputs, or what their judge found wrong, are the same."""

    max_iterations: int | None = None
    on_failure: OnFailure = "halt"
    max_retries: int = 3
    retry_delay: float = 0.0
    per_iteration: float | None = None
    total: float | None = None
    unchanged: int | None = None


@dataclass(frozen=True, slots=True)
class LoopParts:
    """What makes one loop: `place` is the element's own (`develop`), `judge` None only counts."""

    name: str
    place: Place
    body: Body
    memory: Memory
    limits: Limits
    judge: Judge | None = None
    limit: Callable[[], int | None] | None = None  # the number of iterations where people may change it
    before: int = 0  # so many iterations are passed over
    compares_outputs: bool = True  # whether one that repeats says anything


class OutcomeDetails(TypedDict, total=False):
    """What only enhance loops say of their end: fields of `Completed`."""

    mode: str
    rounds_used: int
    unfixable: list[UnfixableFailure]
    best_round: int | None
    last_successful_round: int | None


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a loop or a whole run ended. `output` is the final one; `failure` is set where it failed. `last`
    is what came out last, where that is not what counts as final; `because` names the limit that ended it;
    `details` is what only the format of the run says of its end."""

    reason: str
    output: str = ""
    iterations: int = 0
    failure: Failure | None = None
    last: str | None = None
    because: str | None = field(default=None, compare=False)
    details: OutcomeDetails = field(default_factory=lambda: OutcomeDetails(), compare=False)


def as_planned(outcome: Outcome) -> Outcome:
    """The end of a loop that has no condition: the last iteration that was asked for completes it, no limit did."""
    return replace(outcome, reason="completed", because=None) if outcome.reason == "max_iterations" else outcome


class TryResult(TypedDict, total=False):
    """How a try of an iteration ended, as the journal keeps it: one of the two."""

    output: str
    failure: FailureFields


async def tried(work: Coroutine[object, object, str], recorder: Recorder, limit: float | None, what: str) -> TryResult:
    """How one try of `what` ended: with its output or a `Failure`, after `limit` seconds at most."""
    try:
        return {"output": await (work if limit is None else within(recorder, recorder.active() + limit, work))}
    except Failure as failure:
        if failure.code == OVER_TIME:
            return {"failure": {"code": "timeout", "message": f"{what} ran longer than {limit:g} s"}}
        # How an inner loop ended is not how this one ends: its reason stays behind.
        told: FailureFields = {"code": failure.code, "message": failure.message, "hint": failure.hint}
        return {"failure": {**told, "place": failure.place}}


async def drive(loop: LoopParts, recorder: Recorder) -> Outcome:
    """Run the loop to its end. Raises `Stopped` (from the recorder) when a person stops the run."""
    driver = _Driver(loop, recorder)
    if loop.limits.total is None:
        return await driver.rounds()
    began = cast("float | None", recorder.recall(loop.place.part("began")))
    if began is None:
        began = recorder.active()
        await recorder.record(loop.place.part("began"), answer=began)
    try:
        return await within(recorder, began + loop.limits.total, driver.rounds())
    except Failure as failure:
        if failure.code != OVER_TIME:
            raise
        told = f"`{loop.name}` ran longer than its `total_timeout` of {loop.limits.total:g} s"
        return Outcome("timeout", driver.output, driver.number, Failure("timeout", told, reason="timeout"))


class _Driver:
    """The loop while it runs: how far it is and what came out last."""

    def __init__(self, loop: LoopParts, recorder: Recorder) -> None:
        self.loop, self.limits, self.recorder = loop, loop.limits, recorder
        self.number, self.output = loop.before, ""
        self.sameness, self.stalled = FixationCounter(), EvidenceCounter()

    async def rounds(self) -> Outcome:
        while (most := self.most) is None or self.number < most:
            await self.recorder.gate()
            self.number += 1
            found = await self.iteration()
            if isinstance(found, Failure):
                place = self.loop.place.turn(self.loop.name, self.number)
                await self.recorder.iterated(place, self.loop.name, self.number, "failed")
                if self.limits.on_failure == "continue":
                    continue
                return Outcome(found.reason, self.output, self.number, found)
            verdict = await self.judged(found)
            judged = None if verdict is None else verdict.verdict
            await self.recorder.iterated(found.place, self.loop.name, self.number, judged)
            if verdict is not None and verdict.exit is not None:
                return Outcome(verdict.exit, self.output, self.number, because=verdict.because)
            told = await self.no_progress(found, verdict)
            if self.limits.unchanged is not None and self.stalled.in_a_row >= self.limits.unchanged:
                return self.at_limit("stuck", f"made no progress: {told}")
            if self.limits.unchanged is not None and self.sameness.in_a_row >= self.limits.unchanged:
                return self.at_limit("unchanged", f"produced the same output {self.sameness.in_a_row} times in a row")
        return self.at_limit("max_iterations", f"reached its `max_iterations` of {most}")

    async def no_progress(self, turn: Turn, verdict: Verdict | None) -> str:
        """Hears what is wrong after an iteration; in words with how often in a row it was the same, and warned of."""
        evidence = None if verdict is None else verdict.evidence
        times = self.stalled.hear(None if evidence is None else evidence.name)
        told = "" if evidence is None else f"{times} times in a row {evidence.told}"
        if worth_saying(times):
            warned = Warned(code="stuck", message=told).fact(turn.place)
            await self.recorder.record(turn.place.part("stuck"), [warned])
        return told

    @property
    def most(self) -> int | None:
        return self.limits.max_iterations if self.loop.limit is None else self.loop.limit()

    def at_limit(self, reason: str, told: str) -> Outcome:
        repeated = self.sameness.in_a_row
        if reason not in ("unchanged", "stuck") and repeated > 1:
            told += f"; its last {repeated} outputs were {'the same' if self.output.strip() else 'empty'}"
        return Outcome(reason, self.output, self.number, because=f"`{self.loop.name}` {told}.")

    async def iteration(self) -> Turn | Failure:
        """The try that succeeded, or why the last one did not."""
        tries = 1 + (self.limits.max_retries if self.limits.on_failure == "retry" else 0)
        for attempt in range(1, tries + 1):
            turn = Turn(self.loop.place.turn(self.loop.name, self.number, attempt), self.number, attempt)
            failure = await self.one_try(turn)
            if failure is None:
                return turn
            if attempt < tries:
                await self.wait_for_next_try(turn, failure)
        return failure  # type: ignore[return-value]  # there is at least one try

    async def one_try(self, turn: Turn) -> Failure | None:
        """Run the body, unless the journal knows how that ended. The output is remembered here."""
        key, place = turn.place.part("result"), turn.place
        known = cast("TryResult | None", self.recorder.recall(key))
        if known is None:
            started = IterationStarted(iteration=turn.number, max_iterations=self.most, attempt=turn.attempt)
            await self.recorder.record(place.part("started"), [started.fact(place)])
            known = await self.result(turn)
            facts = [self.fact_of(turn, known).fact(place), *self.in_circles(turn, known)]
            await self.recorder.record(key, facts, answer=known)
        elif "output" in known:
            self.repeated(known["output"])
        if "output" not in known:
            return Failure(**known["failure"])
        self.output = known["output"]
        self.loop.memory.remember(turn, self.output)
        return None

    async def result(self, turn: Turn) -> TryResult:
        what = f"iteration {turn.number} of `{self.loop.name}`"
        try:
            return await tried(self.loop.body.run(turn), self.recorder, self.limits.per_iteration, what)
        except ModelFailure as failure:
            return {"failure": {"code": failure.code, "message": failure.message, "hint": failure.hint}}

    def fact_of(self, turn: Turn, result: TryResult) -> Iteration | IterationFailed:
        if "output" in result:
            return Iteration(iteration=turn.number, max_iterations=self.most, output=result["output"])
        failure = Failure(**result["failure"])
        return IterationFailed(iteration=turn.number, attempt=turn.attempt, error=error_of(failure))

    def in_circles(self, turn: Turn, result: TryResult) -> list[Fact]:
        """The warning that this output brings nothing new."""
        repeated = self.repeated(result["output"]) if "output" in result else 0
        if not worth_saying(repeated):
            return []
        warning = UnchangedOutputWarning(
            iteration=turn.number, repeated=repeated, empty=not result["output"].strip() or None
        )
        return [warning.fact(turn.place)]

    def repeated(self, output: str) -> int:
        return self.sameness.hear(output) if self.loop.compares_outputs else 0

    async def wait_for_next_try(self, turn: Turn, failure: Failure) -> None:
        delay, place = self.limits.retry_delay, turn.place
        retrying = Retrying(attempt=turn.attempt + 1, because=error_of(failure), delay=delay)
        await self.recorder.record(place.part("retrying"), [retrying.fact(place)])
        if delay > 0:
            await self.recorder.sleep(place.part("delay"), delay)
        await self.recorder.gate()

    async def judged(self, turn: Turn) -> Verdict | None:
        if self.loop.judge is None:
            return None
        return await self.loop.judge.judge(turn, self.output)


def error_of(failure: Failure | ModelFailure) -> Error:
    """A failure as it stands in a fact."""
    return Error(code=failure.code, message=failure.message, hint=failure.hint)
