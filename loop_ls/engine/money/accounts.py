"""All accounts that one run draws on: its own, that of the enhance loop that it is, that of its project's day, and
that of its whole project.

A call has to fit into each of them before it is made. The run's own account is shown, and it warns, as that of a loop
does; the others are shared with the runs beside it, and hear of every call from the journal.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from loop_ls.contract.facts.payload import Fact
from loop_ls.engine.core.ports import Allowance, Bill, LostAttempt
from loop_ls.engine.core.price_table import Price
from loop_ls.engine.money.caps import Caps
from loop_ls.engine.money.ledger import Cost, Ledger, Reservation
from loop_ls.engine.money.loop_account import LoopLedger
from loop_ls.text.json_value import JsonObject

Day = tuple[int, int, int]
#: Dollars, None where nobody knows them, and tokens.
Paid = tuple[float | None, int]


def today(at: float) -> Day:
    """The day of a moment, where this machine is."""
    found = time.localtime(at)
    return found.tm_year, found.tm_mon, found.tm_mday


@dataclass(eq=False, slots=True)
class _Calendar:
    """`begun`: what was spent in all, since there is this account, when each day began."""

    day: Day
    begun: dict[Day, Cost]


class DayLedger(Ledger):
    """What a project has spent today: at midnight there is nothing in it, for all who look at it."""

    def __init__(self, caps: Caps, recorded: Mapping[Day, Cost], clock: Callable[[], float], name: str) -> None:
        """`recorded`: what was spent on each day. What is recorded for a later day than today was spent before now, so
        it counts today as well: a clock that is behind gives no money back."""
        day, begun, whole = today(clock()), dict[Day, Cost](), Cost()
        for each in sorted({day, *(one for one in recorded if one > day)}):
            begun[each] = whole
            whole = whole.plus(recorded.get(each, Cost()))
        super().__init__(caps, whole, name)
        self._clock, self._calendar = clock, _Calendar(day, begun)

    def begin(self) -> None:
        """A clock that is put back, or forth and back, gives nobody's money back: a day begins once, and not after one
        that comes later."""
        now, calendar = today(self._clock()), self._calendar
        if now == calendar.day:
            return
        whole, begun = self.spent.plus(calendar.begun[calendar.day]), calendar.begun
        if now not in begun:
            later = [day for day in begun if day > now]
            begun[now] = begun[min(later)] if later else whole
        calendar.day, self.spent = now, whole.plus(begun[now].taken_back())


@dataclass(eq=False, slots=True)
class SharedReservation:
    """`most` is what the call may cost at most; `parts` hold it in every account."""

    most: Cost
    parts: list[tuple[Ledger, Reservation]]


class Accounts:
    """The account of a run as the gate and the recorder see it."""

    def __init__(self, own: Ledger, shared: Sequence[Ledger] = (), loop: LoopLedger | None = None) -> None:
        self.own, self.shared, self.loop = own, tuple(shared), loop

    @property
    def _all(self) -> tuple[Ledger, ...]:
        loop = () if self.loop is None else (self.loop,)
        return (self.own, *loop, *(ledger for ledger in self.shared if ledger.capped))

    @property
    def capped(self) -> bool:
        return any(ledger.capped for ledger in self._all)

    @property
    def unknown_price(self) -> Price | None:
        """What a call counts for whose price nobody knows. None: a cap of dollars could not hold, so it is not made;
        an enhance loop says itself what counts."""
        if any(ledger.caps.usd is not None for ledger in self._all if ledger is not self.loop):
            return None
        return Price(0.0, 0.0) if self.loop is None else self.loop.unknown_price

    async def hold(self, wanted: list[Cost]) -> tuple[int, SharedReservation]:
        """Let a call through for the first of these costs, dearest first, that fits everywhere. Raises
        `CapReached`."""
        number, parts = 0, []
        try:
            for ledger in self._all:
                more, hold = await ledger.hold(wanted[number:])
                number += more
                parts.append((ledger, hold))
        except BaseException:
            _release(parts)
            raise
        return number, SharedReservation(wanted[number], parts)

    async def hold_rest(self) -> SharedReservation:
        """All that is left, for a call whose cost nobody can bound. Raises `CapReached`."""
        parts: list[tuple[Ledger, Reservation]] = []
        try:
            for ledger in self._all:
                parts.append((ledger, await ledger.hold_rest()))
        except BaseException:
            _release(parts)
            raise
        usd = [hold.most.usd for ledger, hold in parts if ledger.caps.usd is not None]
        return SharedReservation(Cost(min(usd, default=0.0)), parts)

    @asynccontextmanager
    async def unbounded(self, bill: Bill | None, prices: Sequence[Price] = ()) -> AsyncIterator[Allowance]:
        """As `ports.Recorder.unbounded`; `prices` are those of whoever does the work, where it says none."""
        if not self.capped:
            yield Allowance(None, bill)
            return
        hold = await self.hold_rest()
        capped = any(ledger.caps.usd is not None for ledger in self._all)
        usd = hold.most.usd if capped else None
        unsaid = usd if self.unknown_price is None else None
        allowed = Allowance(usd, ReservationBill(self, hold, prices, bill), unsaid)
        try:
            yield allowed
        finally:
            self.settle(hold, allowed.paid)

    def settle(self, hold: SharedReservation, paid: Paid | None) -> None:
        for ledger, part in hold.parts:
            ledger.settle(part, None if paid is None else ledger.cost(*paid))

    def lost(self, usd: float, tokens: int) -> None:
        for ledger in self._all:
            ledger.lost(ledger.cost(usd, tokens))

    async def again(self, hold: SharedReservation) -> None:
        """Raises `CapReached`."""
        for ledger, part in hold.parts:
            await ledger.again(part)

    def count(self, facts: Iterable[Fact]) -> list[Fact]:
        """Into the accounts of the run and of its loop; the shared ones hear of them when they are written."""
        told = list(facts)
        return [*self.own.count(told), *([] if self.loop is None else self.loop.count(told))]

    def told(self) -> JsonObject:
        return self.own.told()


class ReservationBill:
    """What lost attempts cost comes out of what is left, and the next attempt has to fit as well."""

    def __init__(self, ledger: Accounts, hold: SharedReservation, prices: Sequence[Price], bill: Bill | None) -> None:
        self._ledger, self._hold, self._prices, self._bill = ledger, hold, prices, bill

    def lost(self, attempt: LostAttempt) -> None:
        prices = [price for price in self._prices if price.call is None]
        if attempt.usd is None and prices:
            usd = max(price.usd(attempt.input_tokens, attempt.output_tokens) for price in prices)
            attempt = replace(attempt, usd=usd)
        self._ledger.lost(attempt.usd or 0.0, attempt.input_tokens + attempt.output_tokens)
        if self._bill is not None:
            self._bill.lost(attempt)

    async def again(self) -> None:
        await self._ledger.again(self._hold)
        if self._bill is not None:
            await self._bill.again()


def _release(parts: list[tuple[Ledger, Reservation]]) -> None:
    for ledger, hold in parts:
        ledger.settle(hold, None)
