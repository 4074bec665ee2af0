"""How many calls one provider gets at once, and how many calls and tokens in a minute.

One gate for each provider of the engine, shared by all runs: limits of durable workflows bound
loops, not calls, and a loop that waits for a person must not hold a place.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

MINUTE = 60.0

Spent = Callable[[int], None]


@dataclass(eq=False, slots=True)
class _Passage:
    """A call that was let through, or will be: when, and with how many tokens."""

    moment: float
    tokens: int


def limit(value: object) -> int | None:
    """A limit as settings write it: a whole number from 1, else none."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


class Gate:
    """Lets calls through: `at_once` at the same time, `per_minute` started in any minute, with
    `tokens` in all. Who waits keeps the order."""

    def __init__(
        self,
        at_once: int | None,
        per_minute: int | None,
        clock: Callable[[], float] = time.monotonic,
        tokens: int | None = None,
    ) -> None:
        self._places = asyncio.Semaphore(at_once) if at_once else None
        self._per_minute, self._tokens, self._clock = per_minute, tokens, clock
        self._passed: deque[_Passage] = deque()

    @asynccontextmanager
    async def passing(
        self, on_wait: Callable[[float], None] = lambda seconds: None, tokens: int = 0
    ) -> AsyncIterator[Spent]:
        """`tokens` is about what the call will take; what it did take is told to the function that this gives."""
        if self._places is None:
            yield await self._pace(on_wait, tokens)
            return
        async with self._places:
            yield await self._pace(on_wait, tokens)

    async def _pace(self, on_wait: Callable[[float], None], tokens: int) -> Spent:
        """Takes the next free moment at once, so that those who wait keep their order."""
        if not self._per_minute and not self._tokens:
            return _uncounted
        now = self._clock()
        while self._passed and self._passed[0].moment <= now - MINUTE:
            self._passed.popleft()
        own = _Passage(self._moment(now, tokens), tokens)
        self._passed.append(own)
        if (delay := own.moment - now) > 0:
            on_wait(delay)
            try:
                await asyncio.sleep(delay)
            except BaseException:
                self._passed.remove(own)  # it never went through
                raise

        def spent(found: int) -> None:
            own.tokens = found

        return spent

    def _moment(self, now: float, tokens: int) -> float:
        moment = max(now, self._passed[-1].moment) if self._passed else now
        if self._per_minute and len(self._passed) >= self._per_minute:
            moment = max(moment, self._passed[-self._per_minute].moment + MINUTE)
        if not self._tokens:
            return moment
        # A call that is larger than the whole limit goes when nothing else is in the minute.
        in_the_way = sum(each.tokens for each in self._passed if each.moment > moment - MINUTE)
        for each in self._passed:
            if in_the_way == 0 or in_the_way + tokens <= self._tokens:
                break
            if each.moment > moment - MINUTE:
                in_the_way -= each.tokens
                moment = max(moment, each.moment + MINUTE)
        return moment


def _uncounted(tokens: int) -> None:
    """Nobody limits tokens."""
