"""What an enhance loop has spent, over all rounds and all answers of the planner, against its one cap.

Decimal with six digits. A call without a known price is booked at the price that the
settings give it; waiting costs nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import ROUND_HALF_UP, Decimal

from loop_ls.contract.facts.enhance import ReportCost
from loop_ls.engine.events import Event
from loop_ls.formats.settings.enhance import Knobs
from loop_ls.text.json_value import float_field

_SIXTH = Decimal("0.000001")
#: The part of the cap at which people are warned.
WARN_AT = Decimal("0.8")


def dollars(value: float | str | Decimal) -> Decimal:
    """An amount as it is booked. A float is taken as it is written, not as it is stored."""
    return Decimal(str(value)).quantize(_SIXTH, ROUND_HALF_UP)


class Ledger:
    """Replayed from the record after a restart: the same bookings give the same sums."""

    def __init__(self, cap: float, unknown_price: float) -> None:
        self.cap, self._unknown = dollars(cap), dollars(unknown_price)
        self.rounds, self.planner = Decimal(0), Decimal(0)
        self.unpriced = 0
        self.round = self.round_planner = Decimal(0)
        self._last_planner: Decimal | None = None
        self._warned = False

    @classmethod
    def of(cls, facts: Iterable[Event], knobs: Knobs) -> Ledger:
        """What these facts of a run say."""
        ledger = cls(knobs.budget_cap_usd, knobs.unknown_price_usd_per_call)
        for fact in facts:
            body = fact.body
            if fact.kind == "round_started":
                ledger.begin_round()
            elif fact.kind == "call" and not ("error" in body and body.get("usd") is None):
                book = ledger.book_planner if body.get("purpose") == "planner" else ledger.book
                book(float_field(body, "usd"))
        return ledger

    @property
    def spent(self) -> Decimal:
        return self.rounds + self.planner

    @property
    def left(self) -> Decimal:
        return max(Decimal(0), self.cap - self.spent)

    @property
    def exhausted(self) -> bool:
        return self.spent >= self.cap

    @property
    def overrun(self) -> Decimal:
        """How far calls in flight took it beyond the cap."""
        return max(Decimal(0), self.spent - self.cap)

    def begin_round(self) -> None:
        self.round = self.round_planner = Decimal(0)

    def book(self, usd: float | None) -> bool:
        """A call of the workflow. Whether its price was unknown."""
        amount = self._amount(usd)
        self.rounds += amount
        self.round += amount
        return usd is None

    def book_planner(self, usd: float | None) -> bool:
        """An answer of the planner, a repair included. Whether its price was unknown."""
        amount = self._amount(usd)
        self.planner += amount
        self.round_planner += amount
        self._last_planner = amount
        return usd is None

    def planner_fits(self, estimate: float | None) -> bool:
        """Whether another answer of the planner probably stays within the cap: the last one says what
        it costs, at first `estimate` does (None: nobody knows, then the price of the settings)."""
        expected = self._amount(estimate) if self._last_planner is None else self._last_planner
        return self.spent + expected <= self.cap

    def warns_now(self) -> bool:
        """True once, when four fifths of the cap are spent."""
        if self._warned or self.spent < self.cap * WARN_AT:
            return False
        self._warned = True
        return True

    def cost(self) -> ReportCost:
        """`cost` of a report."""
        return ReportCost(
            round_usd=float(self.round),
            planner_usd=float(self.round_planner),
            cumulative_usd=float(self.spent),
            cap_usd=float(self.cap),
            unpriced_calls=self.unpriced,
        )

    def _amount(self, usd: float | None) -> Decimal:
        if usd is None:
            self.unpriced += 1
            return self._unknown
        return dollars(usd)
