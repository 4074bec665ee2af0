"""The body and the memory of an enhance loop: one round is a whole run of the workflow, as it is now.

A failing workflow does not end the round: how it ended is what the round is about. Only the budget of the
loop and a person end one early.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal

from loop_ls.contract.amounts import money
from loop_ls.contract.facts.enhance import RoundNumbers, RoundStarted
from loop_ls.contract.facts.kinds import Warned
from loop_ls.engine.core.location import Place
from loop_ls.engine.core.loop_driver import Outcome, Turn
from loop_ls.engine.core.plan import Plan
from loop_ls.engine.core.ports import Models, Recorder
from loop_ls.engine.enhance.invariants.baseline import Baseline
from loop_ls.engine.enhance.plan.bundle import ALONE, Bundle
from loop_ls.engine.enhance.report.costs import LoopCosts
from loop_ls.engine.enhance.report.failures import Observed, independent
from loop_ls.engine.money.loop_account import LoopCap
from loop_ls.text.hash import text_hash
from loop_ls.text.json_value import Json

#: Runs the workflow of a plan below a place: its outcome, never an exception but `Stopped`.
RunWorkflow = Callable[[Plan, Turn, Recorder, Models], Awaitable[Outcome]]


@dataclass
class EnhanceMemory:
    """The memory: the text of each round, what was seen of it, and what the planner has tried so far.
    `baseline` is what plans are compared with, `files` has those of other files that plans may edit, by path. Where
    plans are tried before they are written, `written` is what the document holds, and `chosen` the round whose text
    that is. `left` is what the loop itself wrote last, None where it wrote nothing yet; `because` is why a clean round
    does not count."""

    baseline: Baseline
    files: dict[str, Baseline] = field(default_factory=dict)
    texts: dict[int, str] = field(default_factory=dict)
    observed: dict[int, Observed] = field(default_factory=dict)
    outputs: dict[int, str] = field(default_factory=dict)
    truncated: set[int] = field(default_factory=set)
    history: list[dict[str, Json]] = field(default_factory=list)
    previous: str | None = None
    back_offs: int = 0
    written: str | None = None
    chosen: int | None = None
    left: str | None = None
    because: str = ""

    def remember(self, turn: Turn, output: str) -> None:
        self.texts.setdefault(turn.number, self.text)  # a replayed round is not run again
        self.outputs[turn.number] = output

    def see(self, number: int, observed: Observed) -> None:
        """What a round was like: an element that failed once is watched from then on."""
        self.observed[number] = observed
        names = {one.step.partition("/")[0] for one in observed.failures}
        places = {one.step for one in independent(observed.failures)} | {one.step or "" for one in observed.feedback}
        to_mend = self.baseline.to_mend | {one.partition("/")[0] for one in places}
        self.baseline = replace(self.baseline, failed=self.baseline.failed | names, to_mend=to_mend)
        inner = {name for one in observed.failures for name in one.step.split("/")[1:]}
        below = {name for one in places for name in one.split("/")[1:] or [""]}
        for path, known in self.files.items():
            self.files[path] = replace(known, failed=known.failed | inner, to_mend=known.to_mend | below)

    @property
    def ran_at_first(self) -> tuple[str, ...]:
        """What ran in round 1; nothing before its end is known."""
        first = self.observed.get(1)
        return () if first is None else first.ran

    @property
    def items_at_first(self) -> Mapping[str, int]:
        """How many items the loops of round 1 went over."""
        first = self.observed.get(1)
        return {} if first is None else first.items

    @property
    def failed_items_at_first(self) -> Mapping[str, tuple[str, ...]]:
        """Which of them failed."""
        first = self.observed.get(1)
        return {} if first is None else first.failed_items

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


def run_places(turn: Turn, runs: int) -> list[Place]:
    """Where the runs of a round lie: the first one at the round itself, as ever."""
    return [turn.place, *(turn.place.further_run(number) for number in range(2, runs + 1))]


@dataclass
class RoundBody:
    """`costs` gives what is spent at this moment, from the facts. `runs`: how often the workflow has to be clean."""

    plan: Plan
    course: EnhanceMemory
    recorder: Recorder
    models: Models
    run_workflow: RunWorkflow
    costs: Callable[[], Awaitable[LoopCosts]]
    common: Callable[[int, Decimal], RoundNumbers]
    unknown_price: float
    runs: int = 1
    bundle: Bundle = ALONE

    async def run(self, turn: Turn) -> str:
        text, number = self.course.text, turn.number
        self.course.texts[number] = text
        costs = await self.costs()
        started = RoundStarted(**self.common(number, costs.spent), text_sha256=text_hash(text))
        await self.recorder.record(turn.place.part("round"), [started.fact(turn.place)], answer=text)
        plan = replace(self.plan, texts={**self.plan.texts, **self.bundle.apart(text)})
        output = ""
        for place in run_places(turn, self.runs):
            try:
                outcome = await self.run_workflow(plan, replace(turn, place=place), self.recorder, self.models)
            except LoopCap:
                await self.recorder.record(place.part("truncated"), answer=True)
                return output
            if (await self.costs()).unpriced:
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
        message = f"the price of a call is unknown, so it counts as {money(usd)}: set `price` of its provider"
        warned = Warned(code="unknown_price", message=message).fact()
        await self.recorder.record(":enhance:unpriced", [warned])
