"""Asking the planner until something of its answer can be used, as often as the settings allow.

An answer that is no plan, and one of which nothing is accepted, is asked for again with what was wrong.
Each answer is paid and booked, repairs included.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from loop_ls.contract.facts.enhance import (
    FailureReport,
    OpRejected,
    OpsProposed,
    PlannerFailed,
    PlannerFinished,
    PlannerStarted,
    RoundFact,
    RoundNumbers,
)
from loop_ls.contract.facts.payload import UnfixableFailure
from loop_ls.engine.core.errors import in_one_line
from loop_ls.engine.core.loop_driver import Turn
from loop_ls.engine.core.ports import Failure, Models, Recorder
from loop_ls.engine.enhance.plan.answer import PLAN_SCHEMA, NoPlan, Proposal, read_answer
from loop_ls.engine.enhance.plan.apply import Planned, Planning, Refusal
from loop_ls.engine.enhance.plan.plan_context import PlanContext
from loop_ls.engine.enhance.plan.prompt import ROOM, SMALL_ROOM, SYSTEM, Asked, prompt
from loop_ls.engine.enhance.plan.working_copy import WorkingCopy
from loop_ls.engine.enhance.report.costs import LoopCosts, dollars
from loop_ls.engine.enhance.report.failures import Observed
from loop_ls.engine.enhance.report.report import Mask
from loop_ls.engine.enhance.rounds import EnhanceMemory
from loop_ls.engine.model_calls.ask import Question, answered
from loop_ls.engine.money.loop_account import LoopCap
from loop_ls.formats.common.target import Target
from loop_ls.formats.settings.enhance import Knobs
from loop_ls.text.json_value import JsonObject

#: What a first answer of a planner may cost where its price is known: characters for a token, tokens back.
_CHARACTERS, _ANSWER = 4, 1500
#: Tokens of an answer of a model that has little room.
_SHORT_ANSWER = 800


@dataclass(frozen=True)
class Proposed:
    """A proposal of which something was accepted. `start` is the copy that it was tried on."""

    rationale: str
    planned: Planned
    start: WorkingCopy
    refused: tuple[Refusal, ...]

    def history(self, number: int, fingerprint: str | None, report: FailureReport) -> JsonObject:
        return {
            "round": number,
            "fingerprint": fingerprint,
            "failures": failures_of(report),
            "rationale": self.rationale,
            "accepted": [op.wire() for op in self.planned.accepted],
            "rejected": [one.wire() for one in self.refused],
        }


@dataclass
class Planner:
    """`room`: characters that a question may have. `price` answers what so many tokens in and out cost, None where
    nobody knows. `spent` is what the loop has spent when it last looked."""

    target: Target
    knobs: Knobs
    recorder: Recorder
    models: Models
    known: PlanContext
    mask: Mask
    common: Callable[[int, Decimal], RoundNumbers]
    costs: Callable[[], Awaitable[LoopCosts]]
    room: int = ROOM
    price: Callable[[int, int], float | None] = lambda sent, got: None
    spent: Decimal = field(default_factory=Decimal)
    paid: Decimal = field(default_factory=Decimal)  # for the answer that came last
    wider: int | None = None  # tokens for an answer, after one that was cut

    def estimate(self, observed: Observed) -> float | None:
        """What the first answer may cost."""
        size = sum(len(one.output) for one in observed.failures) + 12_000
        return self.price(size // _CHARACTERS, _ANSWER)

    async def propose(
        self,
        turn: Turn,
        report: FailureReport,
        copy: WorkingCopy,
        planning: Callable[[WorkingCopy], Planning],
        course: EnhanceMemory,
        again: int = 0,
    ) -> Proposed | str:
        """What the next round may become, or why the loop gives up. Raises `Stopped`."""
        repair: str | None = None
        usable, refused = False, list[Refusal]()
        for attempt in range(1, self.knobs.planner_attempts + 1):
            number = attempt + again * self.knobs.planner_attempts
            if number > 1 and not await self._affordable(turn, number):
                return "budget"
            try:
                answer = await self._asked(turn, report, copy, course, number, repair)
            except LoopCap:
                return "budget"
            if answer is None:
                continue
            try:
                proposal = read_answer(answer)
            except NoPlan as wrong:
                repair = str(wrong)
                await self._failed(turn, number, "no_plan", str(wrong), float(self.paid))
                continue
            usable = True
            planned = planning(copy).plan(copy, proposal.ops)
            refused += planned.refused
            await self._told(turn, number, proposal, planned, copy, again)
            if planned.accepted:
                return Proposed(self.mask(proposal.rationale), planned, copy, tuple(refused))
            if proposal.give_up is not None:
                return "no_ops"
            repair = _why(planned.refused)
        course.history.append(
            {
                "round": turn.number,
                "failures": failures_of(report),
                "accepted": [],
                "rejected": [one.wire() for one in refused],
            }
        )
        return "no_ops" if usable else "planner_error"

    async def _affordable(self, turn: Turn, number: int) -> bool:
        async def work() -> bool:
            costs = await self.costs()
            return not costs.exhausted and costs.planner_fits(None)

        return await self.recorder.call(turn.place.part(f"afford{number}"), work)

    async def _asked(
        self,
        turn: Turn,
        report: FailureReport,
        copy: WorkingCopy,
        course: EnhanceMemory,
        number: int,
        repair: str | None,
    ) -> str | None:
        """The text of one answer; None where there was none."""
        usd_left = max(0.0, self.knobs.budget_cap_usd - float(self.spent))
        rounds_left = self.knobs.max_rounds - turn.number
        asked = Asked(
            copy, report, course.history, self.known, rounds_left, usd_left, self.knobs.max_ops_per_round, self.room
        )
        target = self.target
        started = PlannerStarted(
            **self._common(turn), provider=target.provider, model=target.model, attempt=number
        ).fact(turn.place)
        question = Question(
            place=turn.place,
            key=turn.place.part(f"planner{number}"),
            prompt=self.mask(prompt(asked, repair)),
            targets=(self.target,),
            temperature=0.0,
            max_tokens=self._answer_room,
            timeout=self.knobs.planner_timeout_seconds,
            purpose="planner",
            request_place=turn.place.part("planner"),
            system=SYSTEM,
            schema=PLAN_SCHEMA,
            shown={**turn.place.fields(), "purpose": "planner"},
        )
        try:
            answer = await answered(question, self.models, self.recorder, [started])
        except Failure as failure:
            await self._failed(turn, number, failure.code, failure.message)
            return None
        self.paid = dollars(answer["usd"] if answer["usd"] is not None else self.knobs.unknown_price_usd_per_call)
        self.spent += self.paid
        if answer["finish"] == "length" and self.room > SMALL_ROOM and (most := answer.get("maxTokens")):
            self.wider = 2 * most
        return answer["text"]

    @property
    def _answer_room(self) -> int | None:
        """Twice as much after an answer that was cut: half a plan is none."""
        return _SHORT_ANSWER if self.room <= SMALL_ROOM else self.wider

    async def _failed(self, turn: Turn, number: int, code: str, message: str, usd: float | None = None) -> None:
        failed = PlannerFailed(
            **self._common(turn), code=code, message=self.mask(message), attempt=number, planner_usd=usd
        )
        await self.recorder.record(turn.place.part(f"planner_failed{number}"), [failed.fact(turn.place)])

    async def _told(
        self, turn: Turn, number: int, proposal: Proposal, planned: Planned, start: WorkingCopy, again: int
    ) -> None:
        """What the planner said and what became of it, as facts."""
        common = self._common(turn)
        told: list[RoundFact] = [
            PlannerFinished(
                **common,
                ops=len(proposal.ops),
                attempt=number,
                planner_usd=float(self.paid),
                rationale=self.mask(proposal.rationale),
                give_up=None if proposal.give_up is None else self.mask(proposal.give_up),
                unfixable=[
                    UnfixableFailure(failure=one.failure, reason=self.mask(one.reason)) for one in proposal.unfixable
                ],
            ),
            *(
                OpRejected(**common, op=one.op, target=one.place, reason_code=one.code, message=one.message)
                for one in planned.refused
            ),
        ]
        if planned.accepted:
            proposed = OpsProposed(
                **common,
                plan_id=f"{self.recorder.run_id}:{turn.number}:{again + 1}",
                ops=[op.wire() for op in planned.accepted],
                rationale=self.mask(proposal.rationale),
                unfixable=list(proposal.unfixable),
                diff=self.mask(start.bundle.diff(start.text, planned.copy.text)),
            )
            told.append(proposed)
        await self.recorder.record(turn.place.part(f"proposed{number}"), [one.fact(turn.place) for one in told])

    def _common(self, turn: Turn) -> RoundNumbers:
        return self.common(turn.number, self.spent)


def failures_of(report: FailureReport) -> list[str]:
    """What failed in a round, in one line each: the next plan is to know what the one before led to."""
    return [f"{one.step}: {one.kind.replace('_', ' ')}" for one in report.failures]


def _why(refused: Sequence[Refusal]) -> str:
    if not refused:
        return "`ops` is empty, and the failures are still there"
    return in_one_line(f"{one.op} {one.place}: {one.code}, {one.message}" for one in refused)
