"""The body and the memory of an enhance loop: one round is a whole run of the workflow, as it is now.

A failing workflow does not end the round: how it ended is what the round is about. Only the budget of the
loop and a person end one early.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from decimal import Decimal

from loop_ls.contract.amounts import money
from loop_ls.contract.facts.enhance import RoundNumbers, RoundStarted
from loop_ls.contract.facts.kinds import Warned
from loop_ls.engine.core.location import Place
from loop_ls.engine.core.loop_driver import Outcome, Turn
from loop_ls.engine.core.plan import Plan
from loop_ls.engine.core.ports import (
    Bill,
    EmbedReply,
    EmbedRequest,
    LostAttempt,
    ModelReply,
    ModelRequest,
    Models,
    Recorder,
    Waiting,
)
from loop_ls.engine.enhance.invariants.baseline import Baseline
from loop_ls.engine.enhance.report.failures import Observed
from loop_ls.engine.enhance.report.ledger import Ledger
from loop_ls.engine.money.caps import CapReached
from loop_ls.text.hash import text_hash
from loop_ls.text.json_value import Json

#: Runs the workflow of a plan below a place: its outcome, never an exception but `Stopped`.
RunWorkflow = Callable[[Plan, Turn, Recorder, Models], Awaitable[Outcome]]


@dataclass
class EnhanceMemory:
    """The memory: the text of each round, what was seen of it, and what the planner has tried so far.
    `baseline` is what plans are compared with. Where plans are tried before they are written, `written` is what the
    document holds, and `chosen` the round whose text that is."""

    baseline: Baseline
    texts: dict[int, str] = field(default_factory=dict)
    observed: dict[int, Observed] = field(default_factory=dict)
    outputs: dict[int, str] = field(default_factory=dict)
    truncated: set[int] = field(default_factory=set)
    history: list[dict[str, Json]] = field(default_factory=list)
    previous: str | None = None
    back_offs: int = 0
    written: str | None = None
    chosen: int | None = None

    def remember(self, turn: Turn, output: str) -> None:
        self.texts.setdefault(turn.number, self.text)  # a replayed round is not run again
        self.outputs[turn.number] = output

    def see(self, number: int, observed: Observed) -> None:
        """What a round was like: an element that failed once is watched from then on."""
        self.observed[number] = observed
        names = {one.step.partition("/")[0] for one in observed.failures}
        self.baseline = replace(self.baseline, failed=self.baseline.failed | names)

    @property
    def ran_at_first(self) -> tuple[str, ...]:
        """What ran in round 1; nothing before its end is known."""
        first = self.observed.get(1)
        return () if first is None else first.ran

    @property
    def text(self) -> str:
        """The text as it was last seen."""
        return self.texts[max(self.texts)] if self.written is None else self.written

    def hashes(self) -> dict[int, str]:
        return {number: text_hash(text) for number, text in self.texts.items()}

    def last_success(self) -> int | None:
        """The highest round that gave the final output with no hard failure that it depends on."""
        return max((number for number, one in self.observed.items() if one.successful), default=None)

    def best(self) -> int | None:
        """The last successful round, else the one with the fewest failures."""
        if self.chosen is not None:
            return self.chosen
        success = self.last_success()
        if success is not None or not self.observed:
            return success
        return min(self.observed, key=lambda number: (len(self.observed[number].failures), -number))


class RoundBudget(CapReached):
    """The loop's own cap: the round ends here, and the loop says what became of it."""


class BudgetedModels:
    """The models of the workflow, under the cap of the loop: nothing new is asked once it is spent."""

    def __init__(self, models: Models, ledger: Ledger) -> None:
        self._models, self._ledger = models, ledger

    async def ask(
        self,
        request: ModelRequest,
        on_text: Callable[[str], None] | None = None,
        on_wait: Callable[[Waiting], None] | None = None,
    ) -> ModelReply:
        """Raises `RoundBudget`."""
        self.check()
        bill = _RoundBill(self, request.bill)
        reply = await self._models.ask(replace(request, bill=bill), on_text, on_wait)
        self._ledger.book(reply.usd)
        return reply

    async def embed(self, request: EmbedRequest, on_wait: Callable[[Waiting], None] | None = None) -> EmbedReply:
        """Raises `RoundBudget`."""
        self.check()
        reply = await self._models.embed(replace(request, bill=_RoundBill(self, request.bill)), on_wait)
        self._ledger.book(reply.usd)
        return reply

    def book(self, usd: float | None) -> None:
        """A lost attempt. One whose price nobody knows counts nothing, as in the record."""
        if usd is not None:
            self._ledger.book(usd)

    def check(self) -> None:
        """Raises `RoundBudget`."""
        if self._ledger.exhausted:
            raise RoundBudget("budget", f"The loop has spent its {self._ledger.cap.normalize():f} dollars.")


class _RoundBill:
    """Lost attempts count where they were lost, so that the next one of the same round is not made beyond the cap."""

    def __init__(self, models: BudgetedModels, bill: Bill | None) -> None:
        self._models, self._bill = models, bill

    def lost(self, attempt: LostAttempt) -> None:
        self._models.book(attempt.usd)
        if self._bill is not None:
            self._bill.lost(attempt)

    async def again(self) -> None:
        self._models.check()
        if self._bill is not None:
            await self._bill.again()


def run_places(turn: Turn, runs: int) -> list[Place]:
    """Where the runs of a round lie: the first one at the round itself, as ever."""
    return [turn.place, *(turn.place.element(f"run-{number}") for number in range(2, runs + 1))]


@dataclass
class RoundBody:
    """`ledger` gives what is spent at this moment, from the facts. `runs`: how often the workflow has to be clean."""

    plan: Plan
    course: EnhanceMemory
    recorder: Recorder
    models: Models
    run_workflow: RunWorkflow
    ledger: Callable[[], Awaitable[Ledger]]
    common: Callable[[int, Decimal], RoundNumbers]
    unknown_price: float
    runs: int = 1

    async def run(self, turn: Turn) -> str:
        text, number = self.course.text, turn.number
        self.course.texts[number] = text
        ledger = await self.ledger()
        started = RoundStarted(**self.common(number, ledger.spent), text_sha256=text_hash(text))
        await self.recorder.record(turn.place.part("round"), [started.fact(turn.place)], answer=text)
        plan = replace(self.plan, texts={**self.plan.texts, self.plan.path: text})
        models, output = BudgetedModels(self.models, ledger), ""
        for place in run_places(turn, self.runs):
            try:
                outcome = await self.run_workflow(plan, replace(turn, place=place), self.recorder, models)
            except RoundBudget:
                await self.recorder.record(place.part("truncated"), answer=True)
                return output
            if ledger.unpriced:
                await self._say_unpriced()
            output = outcome.output
            if outcome.failure is not None:
                error = {"code": outcome.failure.code, "message": outcome.failure.message}
                await self.recorder.record(place.part("error"), answer={**error, "reason": outcome.reason})
                break
        return output

    async def _say_unpriced(self) -> None:
        """Once in a loop."""
        usd = self.unknown_price
        message = f"a call has no known price and counts {money(usd)}: set `price` of its provider to know better"
        warned = Warned(code="unknown_price", message=message).fact()
        await self.recorder.record(":enhance:unpriced", [warned])
