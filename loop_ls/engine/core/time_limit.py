"""Time limits in the run's own time: while a run is paused, or its engine is gone, no limit comes nearer."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import TypeVar

from loop_ls.engine.core.ports import Failure, Recorder

T = TypeVar("T")
OVER_TIME = "over_time"
#: How often a limit is looked at again when the run's time stood still.
LOOK_AGAIN = 0.25


async def within(recorder: Recorder, deadline: float, work: Coroutine[object, object, T]) -> T:
    """The result of `work`, or `Failure(over_time)` once `recorder.active()` has reached `deadline`."""
    task = asyncio.ensure_future(work)
    try:
        pause = 0.0
        while not task.done():
            left = deadline - recorder.active()
            if left <= 0:
                return await _given_up(task)
            await asyncio.wait({task}, timeout=max(left, pause))
            pause = LOOK_AGAIN
        return await task
    finally:
        if not task.done():
            task.cancel()
            await asyncio.wait({task}, timeout=10)


async def _given_up(task: asyncio.Task[T]) -> T:
    """End the work. What it had finished at that very moment counts."""
    task.cancel()
    await asyncio.wait({task}, timeout=10)
    if task.done() and not task.cancelled():
        return await task
    raise Failure(OVER_TIME, "The time limit was reached.", reason="timeout")
