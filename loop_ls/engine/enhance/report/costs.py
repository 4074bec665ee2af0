"""What an enhance loop has spent, by round and by planner, as its reports and its decisions between rounds have it.

Read from the record, so that a replay decides the same. The cap before each call is held by the account of the loop
(`money.loop_account`), which says what a call counts for. Decimal with six digits; waiting costs nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import ROUND_HALF_UP, Decimal

from loop_ls.contract.facts.enhance import ReportCost
from loop_ls.engine.events import Event
from loop_ls.engine.money.loop_account import counted_usd
from loop_ls.formats.settings.enhance import Knobs
from loop_ls.text.json_value import JsonObject, float_field

_SIXTH = Decimal("0.000001")


def dollars(value: float | str | Decimal) -> Decimal:
    """An amount as it is booked. A float is taken as it is written, not as it is stored."""
    return Decimal(str(value)).quantize(_SIXTH, ROUND_HALF_UP)


class LoopCosts:
    """Replayed from the record after a restart: the same bookings give the same sums."""

    def __init__(self, cap: float, unknown_price: float) -> None:
        self.cap, self._unknown = dollars(cap), unknown_price
        self.rounds, self.planner = Decimal(0), Decimal(0)
        self.unpriced = 0
        self.round = self.round_planner = Decimal(0)
        self._last_planner: Decimal | None = None

    @classmethod
    def of(cls, facts: Iterable[Event], knobs: Knobs) -> LoopCosts:
        """What these facts of a run say."""
        costs = cls(knobs.budget_cap_usd, knobs.unknown_price_usd_per_call)
        for fact in facts:
            if fact.kind == "round_started":
                costs.begin_round()
            elif fact.kind == "call":
                costs.book(fact.body)
        return costs

    @property
    def spent(self) -> Decimal:
        return self.rounds + self.planner

    @property
    def exhausted(self) -> bool:
        return self.spent >= self.cap

    def begin_round(self) -> None:
        self.round = self.round_planner = Decimal(0)

    def book(self, call: JsonObject) -> None:
        """A `call` fact: of the workflow, or an answer of the planner, repairs included."""
        amount, priced = dollars(counted_usd(call, self._unknown)), float_field(call, "usd") is not None
        if "error" in call and not priced:
            return
        self.unpriced += not priced
        if call.get("purpose") == "planner":
            self.planner += amount
            self.round_planner += amount
            self._last_planner = amount
        else:
            self.rounds += amount
            self.round += amount

    def planner_fits(self, estimate: float | None) -> bool:
        """Whether another answer of the planner probably stays within the cap: the last one says what
        it costs, at first `estimate` does (None: nobody knows, then the price of the settings)."""
        first = dollars(self._unknown if estimate is None else estimate)
        expected = first if self._last_planner is None else self._last_planner
        return self.spent + expected <= self.cap

    def cost(self) -> ReportCost:
        """`cost` of a report."""
        return ReportCost(
            round_usd=float(self.round),
            planner_usd=float(self.round_planner),
            cumulative_usd=float(self.spent),
            cap_usd=float(self.cap),
            unpriced_calls=self.unpriced,
        )
