"""The account of a project in the database that several engines share: one truth for caps across all of them.

What a call may cost is set aside there before it is made, so engines side by side cannot overshoot together. What
an engine holds counts as long as its claim on the run does: one that dies or is cut off holds up nobody.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import NamedTuple, Protocol

from loop_ls.contract.facts.payload import Fact
from loop_ls.engine.money.caps import Caps
from loop_ls.engine.money.ledger import Cost, Ledger, Reservation, cost_of

#: Seconds after which the account is looked at again though nobody told of a change.
LOOK_AGAIN = 1.0


class Account(NamedTuple):
    """Of a project, `daily` or in all; as run `run` sees it, on which we have `claim`."""

    project: str
    daily: bool
    run: str
    claim: str


class AccountAnswer(NamedTuple):
    """What an account says to a call: `choice` is the first cost that fits, `most` what was set aside; None: none
    fits beside what is `taken`. `busy`: that may change by itself."""

    choice: int | None
    most: Cost
    taken: Cost
    busy: bool


class SharedAccounts(Protocol):
    """What the engines share (`engine.durable.spending_accounts`)."""

    async def hold(
        self, account: Account, caps: Caps, name: str, wanted: Sequence[Cost] | None
    ) -> AccountAnswer | None:
        """Set the first of these costs aside under `name`, or all that is left. None: the database is away.
        Raises `JournalRefused` where the run is somebody else's by now."""
        ...

    async def again(self, account: Account, caps: Caps) -> AccountAnswer | None:
        """Whether all that is set aside still fits."""
        ...

    def settle(self, account: Account, name: str, paid: Cost | None) -> None:
        """What was set aside under `name` became `paid`, or nothing. Nobody waits for it, and it is not forgotten."""
        ...

    def changed(self, account: Account) -> asyncio.Event:
        """Set when something that was set aside is free."""
        ...


class SharedLedger(Ledger):
    """`spent` is what the account said last, calls in progress included."""

    def __init__(self, shared: SharedAccounts, account: Account, caps: Caps) -> None:
        super().__init__(caps, name="perDay." if account.daily else "perProject.")
        self._shared, self._account = shared, account
        self._names: dict[Reservation, str] = {}
        self._unwritten: list[tuple[str, Cost]] = []  # paid, and not a fact yet

    async def hold(self, wanted: list[Cost]) -> tuple[int, Reservation]:
        return await self._held(wanted, wanted[-1])

    async def hold_rest(self) -> Reservation:
        return (await self._held(None, Cost()))[1]

    async def _held(self, wanted: list[Cost] | None, least: Cost) -> tuple[int, Reservation]:
        name = secrets.token_hex(12)
        while True:
            changed = self._shared.changed(self._account)
            changed.clear()
            found = await self._shared.hold(self._account, self.caps, name, wanted)
            if found is not None:
                self.spent = found.taken.plus(found.most)
                if found.choice is not None:
                    hold = Reservation(found.most)
                    self._names[hold] = name
                    return found.choice, hold
                if not found.busy:
                    raise self.reached(found.taken, least)
            await _within(changed)

    async def again(self, hold: Reservation) -> None:
        while True:
            changed = self._shared.changed(self._account)
            changed.clear()
            found = await self._shared.again(self._account, self.caps)
            if found is not None:
                if found.choice is not None:
                    return
                if not found.busy:
                    raise self.reached(found.taken, hold.most)
            await _within(changed)

    def settle(self, hold: Reservation, paid: Cost | None) -> None:
        name = self._names.pop(hold)
        if paid is not None:
            self._unwritten.append((name, paid))
        self._shared.settle(self._account, name, paid)

    def lost(self, paid: Cost) -> None:
        name = secrets.token_hex(12)
        self._unwritten.append((name, paid))
        self._shared.settle(self._account, name, paid)

    def count(self, facts: Iterable[Fact]) -> list[Fact]:
        """These are written, and the account has them: nothing is set aside for them any more."""
        for kind, body in facts:
            cost = cost_of(body) if kind == "call" else None
            found = next((each for each in self._unwritten if each[1] == cost), None)
            if found is not None:
                self._unwritten.remove(found)
                self._shared.settle(self._account, found[0], None)
        return []


async def _within(changed: asyncio.Event) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(LOOK_AGAIN):
            await changed.wait()
