"""The account of one run: what it has spent, what calls in flight may still cost, and what is left.

A call is let through only when the most it may cost fits into what is left, so calls side by side cannot
overshoot a cap together. What does not fit beside others waits for them; what does not fit alone ends the run.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass, field
from typing import Self

from loop_ls.contract.amounts import money
from loop_ls.contract.facts.kinds import BudgetWarning, Warned
from loop_ls.contract.facts.payload import Fact
from loop_ls.engine.money.caps import CapReached, Caps
from loop_ls.text.json_value import JsonObject, as_object, float_field, int_field
from loop_ls.text.record import equal_record

#: The part of a cap after which a run says so.
WARN_AT = 0.8


@equal_record
class Cost:
    usd: float = 0.0
    tokens: int = 0

    def plus(self, other: Cost) -> Cost:
        return Cost(self.usd + other.usd, self.tokens + other.tokens)

    def taken_back(self) -> Cost:
        return Cost(-self.usd, -self.tokens)


@dataclass(eq=False, slots=True)
class Reservation:
    """What a call in flight may cost at most."""

    most: Cost


@dataclass(eq=False, slots=True)
class AccountState:
    """What an account knows, under whatever caps it is looked at. `paid` is answered, and not a fact yet."""

    spent: Cost
    holds: set[Reservation] = field(default_factory=set)
    paid: list[Cost] = field(default_factory=list)
    settled: asyncio.Event = field(default_factory=asyncio.Event)


class Ledger:
    """`spent` is what the facts so far say. Never used from two threads."""

    def __init__(
        self,
        caps: Caps = Caps(),  # noqa: B008 - neither changes
        spent: Cost = Cost(),  # noqa: B008
        name: str = "",
    ) -> None:
        """`name`: of a cap that several runs share, the section of `limits` that it stands in (`perDay.`)."""
        self.caps, self._books, self._name = caps, AccountState(spent), name
        self._warned = self._near()
        self._over = not self._fits(spent)

    @property
    def spent(self) -> Cost:
        return self._books.spent

    @spent.setter
    def spent(self, spent: Cost) -> None:
        self._books.spent = spent

    def under(self, caps: Caps) -> Self:
        """The same account as a run with caps of its own sees it."""
        seen = copy(self)
        seen.limit(caps)
        return seen

    def begin(self) -> None:
        """Called before anything is asked of the account."""

    def limit(self, caps: Caps) -> None:
        self.caps, self._warned = caps, False
        self._warned = self._near()
        self._over = not self._fits(self.spent)

    # -- before a call ---------------------------------------------------------------------------

    async def hold(self, wanted: list[Cost]) -> tuple[int, Reservation]:
        """Let a call through for the first of these costs, dearest first, that fits. Waits for calls in
        flight where it would not fit only because of them. Raises `CapReached`."""
        while True:
            self.begin()
            taken = self.spent.plus(total(self._books.paid))
            held = total(hold.most for hold in self._books.holds)
            for number, cost in enumerate(wanted):
                if self.open(taken) and self._fits(taken.plus(held).plus(cost)):
                    hold = Reservation(cost)
                    self._books.holds.add(hold)
                    return number, hold
            if not self._books.holds:
                raise self.reached(taken, wanted[-1])
            self._books.settled.clear()
            await self._books.settled.wait()

    async def hold_rest(self) -> Reservation:
        """All that is left, for a call whose cost nobody can bound. Raises `CapReached`."""
        while self._books.holds:
            self._books.settled.clear()
            await self._books.settled.wait()
        self.begin()
        self.check()
        hold = Reservation(Cost(self.left_usd or 0.0, self.left_tokens() or 0))
        self._books.holds.add(hold)
        return hold

    def cost(self, usd: float | None, tokens: int) -> Cost:
        """What a call counts for here; `usd` None: nobody knows its price."""
        return Cost(usd or 0.0, tokens)

    def cost_of(self, call: JsonObject) -> Cost:
        """What a `call` fact counts for here."""
        return cost_of(call)

    def open(self, taken: Cost) -> bool:
        """Whether another call may begin at all, if it fits."""
        return True

    def settle(self, hold: Reservation, paid: Cost | None) -> None:
        """The call has ended; `paid` None: it cost nothing."""
        self._books.holds.discard(hold)
        if paid is not None:
            self._books.paid.append(paid)
        self._books.settled.set()

    def lost(self, paid: Cost) -> None:
        """An attempt of a call that still holds its place was paid and gave no answer."""
        self._books.paid.append(paid)

    async def again(self, hold: Reservation) -> None:
        """Whether another attempt of a call that holds its place fits too. Raises `CapReached`."""
        taken = self.spent.plus(total(self._books.paid))
        if not self.open(taken) or not self._fits(taken.plus(total(each.most for each in self._books.holds))):
            raise self.reached(taken, hold.most)

    @property
    def capped(self) -> bool:
        return self.caps.usd is not None or self.caps.tokens is not None

    def check(self) -> None:
        """For calls whose cost nobody can bound: something has to be left. Raises `CapReached`."""
        taken = self.spent.plus(total(self._books.paid))
        used_up = (self.caps.usd is not None and taken.usd >= self.caps.usd) or (
            self.caps.tokens is not None and taken.tokens >= self.caps.tokens
        )
        if used_up or not self.open(taken) or not self._fits(taken):
            raise self.reached(taken, Cost())

    @property
    def left_usd(self) -> float | None:
        """Dollars that nobody has spent or promised; None where there is no cap."""
        if self.caps.usd is None:
            return None
        held = total(hold.most for hold in self._books.holds)
        return max(0.0, self.caps.usd - self.spent.usd - total(self._books.paid).usd - held.usd)

    def left_tokens(self) -> int | None:
        if self.caps.tokens is None:
            return None
        held = total(hold.most for hold in self._books.holds)
        return max(0, self.caps.tokens - self.spent.tokens - total(self._books.paid).tokens - held.tokens)

    def _fits(self, whole: Cost) -> bool:
        caps = self.caps
        # Sums of floats may differ in the last digit from the cap they were meant to reach.
        return (caps.usd is None or whole.usd <= caps.usd + 1e-12) and (
            caps.tokens is None or whole.tokens <= caps.tokens
        )

    def reached(self, taken: Cost, least: Cost) -> CapReached:
        caps = self.caps
        if not self._fits(taken):
            usd, tokens = caps.usd is not None and taken.usd > caps.usd, caps.tokens
            told = (
                f"{money(taken.usd)} of {money(caps.usd)} spent" if usd else f"{taken.tokens} of {tokens} tokens used"
            )
            return CapReached(
                "budget",
                f"{self._whose}{'budgetUsd' if usd else 'maxTokens'}`: the last call used up the rest, {told}.",
            )
        if caps.usd is not None and taken.usd + least.usd > caps.usd - 1e-12:
            told = f"the next call may cost {money(least.usd)}, and {money(taken.usd)} of {money(caps.usd)} are spent"
            return CapReached("budget", f"{self._whose}budgetUsd`: {told}.")
        told = f"the next call may use {least.tokens} tokens, and {taken.tokens} of {caps.tokens} are used"
        return CapReached("budget", f"{self._whose}maxTokens`: {told}.")

    @property
    def _whose(self) -> str:
        return f"The runs of this project reached `limits.{self._name}" if self._name else "The run reached its `"

    # -- after a call ----------------------------------------------------------------------------

    def count(self, facts: Iterable[Fact]) -> list[Fact]:
        """Take the calls among these facts into the account: the warning that follows from them, once."""
        self.begin()
        for kind, body in facts:
            if kind == "call":
                cost = self.cost_of(body)
                self.spent = self.spent.plus(cost)
                if cost in self._books.paid:
                    self._books.paid.remove(cost)
        return [*self._warning(), *self._overshot()]

    def _overshot(self) -> list[Fact]:
        """Nobody can bound the tokens of an agent, nor hold its bill to the cent: what it took beyond a cap is
        known only now, and said once."""
        caps, spent = self.caps, self.spent
        if self._over or self._fits(spent):
            return []
        self._over = True
        told = (
            [f"{money(spent.usd)} of {money(caps.usd)}"]
            if caps.usd is not None and spent.usd > caps.usd + 1e-12
            else []
        )
        if caps.tokens is not None and spent.tokens > caps.tokens:
            told.append(f"{spent.tokens} of {caps.tokens} tokens")
        message = f"The last call used more than was left: {' and '.join(told)}. This is known only after the call."
        return [Warned(code="cap_overshot", message=message).fact()]

    def _warning(self) -> list[Fact]:
        if self._warned or not self._near():
            return []
        self._warned = True
        caps, spent = self.caps, self.spent
        warning = BudgetWarning(
            spent_usd=None if caps.usd is None else spent.usd,
            cap_usd=caps.usd,
            spent_tokens=None if caps.tokens is None else spent.tokens,
            cap_tokens=caps.tokens,
        )
        return [warning.fact()]

    def told(self) -> JsonObject:
        """What was spent so far, as every fact of the run says it: nothing, where that is all."""
        usd, tokens = round(self.spent.usd, 9), self.spent.tokens
        if not usd and not tokens:
            return {}
        return {"spent": {**({"usd": usd} if usd else {}), "tokens": tokens}}

    def _near(self) -> bool:
        caps, spent = self.caps, self.spent
        money = caps.usd is not None and spent.usd > 0 and spent.usd >= WARN_AT * caps.usd
        return money or (caps.tokens is not None and spent.tokens > 0 and spent.tokens >= WARN_AT * caps.tokens)


def cost_of(call: JsonObject) -> Cost:
    """What a `call` fact says was spent; copied calls were paid by another run."""
    if call.get("copied"):
        return Cost()
    tokens = as_object(call.get("tokens"))
    return Cost(float_field(call, "usd") or 0.0, (int_field(tokens, "input") or 0) + (int_field(tokens, "output") or 0))


def total(costs: Iterable[Cost]) -> Cost:
    found = Cost()
    for cost in costs:
        found = found.plus(cost)
    return found
