"""Limits of a provider that hold in several processes together: places are taken from what they share.

Who waits is woken when a place is free; across processes nobody keeps an order.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import NamedTuple, Protocol

from loop_ls.engine.providers.limits.rate_limits import Gate, Spent

#: Seconds after which a free place is looked for though nobody told of one.
LOOK_AGAIN = 1.0


class Limits(NamedTuple):
    at_once: int | None
    per_minute: int | None
    tokens: int | None


class SharedSlots(Protocol):
    """What the processes share (`engine.durable.provider_leases`)."""

    async def take(self, gate: str, limits: Limits, tokens: int) -> tuple[str | None, float | None]:
        """A place (to be given back), or none, and the seconds until the minute has room, if that is why."""
        ...

    def leave(self, gate: str, place: str, tokens: int | None) -> None:
        """Give it back, with what the call did take. Nobody waits for it, and it is not forgotten."""
        ...

    def free(self, gate: str) -> asyncio.Event:
        """Set when somebody gave a place back."""
        ...


class SharedGate(Gate):
    def __init__(
        self, places: SharedSlots, name: str, at_once: int | None, per_minute: int | None, tokens: int | None
    ) -> None:
        super().__init__(None, None)
        self._common, self._limits = places, Limits(at_once, per_minute, tokens)
        self._name = hashlib.sha256(name.encode()).hexdigest()[:24]

    @asynccontextmanager
    async def passing(
        self, on_wait: Callable[[float], None] = lambda seconds: None, tokens: int = 0
    ) -> AsyncIterator[Spent]:
        place = await self._place(on_wait, tokens)
        found: list[int] = []
        try:
            yield found.append
        finally:
            self._common.leave(self._name, place, found[-1] if found else None)

    async def _place(self, on_wait: Callable[[float], None], tokens: int) -> str:
        told = False
        while True:
            free = self._common.free(self._name)
            free.clear()
            place, wait = await self._common.take(self._name, self._limits, tokens)
            if place is not None:
                return place
            if wait is not None and not told:
                told = True
                on_wait(wait)
            try:
                async with asyncio.timeout(LOOK_AGAIN if wait is None else min(wait, LOOK_AGAIN * 5)):
                    await (free.wait() if wait is None else asyncio.Event().wait())
            except TimeoutError:
                continue
