"""Asking again when a provider is busy, out of order or away: a few times, never for long.

A call that the caller bounds itself (`ModelRequest.attempts`) is asked exactly that often. What the
provider says about waiting is honoured; when it asks for longer than anybody would wait, the
failure says so instead.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import TypeVar

from loop_ls.engine.core.ports import ModelFailure, Waiting

R = TypeVar("R")

ATTEMPTS = 3
#: Seconds; whoever wants more time than that has used up a limit, and the run is parked (`failures.exhausted`).
LONGEST_WAIT = 60.0
FIRST_WAIT = 0.5

#: `truncated` is not here: it was paid; whether it is worth paying again is the workflow's choice.
AGAIN = frozenset({"rate_limited", "server", "unreachable"})

BECAUSE = {"rate_limited": "rate limit", "server": "provider unavailable", "unreachable": "provider unreachable"}


async def with_retries(
    most: int | None,
    limit: float | None,
    attempt: Callable[[], Awaitable[R]],
    on_wait: Callable[[Waiting], None] | None,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    before_next: Callable[[], Awaitable[None]] | None = None,
) -> R:
    """The first answer of at most so many attempts. `limit` is that of one attempt: nobody waits longer for
    the next one. `before_next` may raise where no further one is paid for."""
    attempts = max(1, most or ATTEMPTS)
    patience = min(limit or LONGEST_WAIT, LONGEST_WAIT)
    for number in range(1, attempts + 1):
        try:
            return await attempt()
        except ModelFailure as failure:
            delay, because = _delay(failure, number, patience), failure.code
            if number == attempts or delay is None:
                raise
            if before_next is not None:
                await before_next()
        if on_wait:
            on_wait(Waiting(number + 1, attempts, delay, BECAUSE[because]))
        await sleep(delay)
    raise AssertionError("the last attempt answers or raises")


def _delay(failure: ModelFailure, number: int, patience: float) -> float | None:
    """Seconds before the next attempt; None where another makes no sense."""
    if failure.code not in AGAIN or failure.details.get("final"):
        return None
    if failure.retry_after is not None:
        return failure.retry_after + random.uniform(0.0, 0.1) if failure.retry_after <= patience else None
    return min(FIRST_WAIT * 2.0 ** (number - 1) * random.uniform(1.0, 1.5), patience)
