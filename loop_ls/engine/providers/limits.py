"""How many calls one provider gets at once, and in a minute.

One gate for each provider of the engine, shared by all runs: limits of durable workflows bound
loops, not calls, and a loop that waits for a person must not hold a place.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

MINUTE = 60.0


class Gate:
    """Lets calls through: `at_once` at the same time, `per_minute` started in any minute."""

    def __init__(
        self, at_once: int | None, per_minute: int | None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._places = asyncio.Semaphore(at_once) if at_once else None
        self._per_minute, self._clock = per_minute, clock
        self._started: deque[float] = deque()

    @asynccontextmanager
    async def passing(self, on_wait: Callable[[float], None] = lambda seconds: None) -> AsyncIterator[None]:
        if self._places is None:
            await self._pace(on_wait)
            yield
            return
        async with self._places:
            await self._pace(on_wait)
            yield

    async def _pace(self, on_wait: Callable[[float], None]) -> None:
        """Takes the next free moment at once, so that those who wait keep their order."""
        if not self._per_minute:
            return
        now = self._clock()
        while self._started and self._started[0] <= now - MINUTE:
            self._started.popleft()
        moment = now
        if len(self._started) >= self._per_minute:
            moment = self._started[-self._per_minute] + MINUTE
        self._started.append(moment)
        if (delay := moment - now) > 0:
            on_wait(delay)
            await asyncio.sleep(delay)
