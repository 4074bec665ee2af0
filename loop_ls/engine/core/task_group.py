"""Several things at once, none of them left behind: when one raises, the others are ended first."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from typing import TypeVar

T = TypeVar("T")


async def together(work: Iterable[Coroutine[object, None, T]]) -> list[T]:
    """All results, in order. Raises what the first one raises that does."""
    tasks = [asyncio.ensure_future(one) for one in work]
    try:
        return await asyncio.gather(*tasks)
    finally:
        await end(tasks)


async def end(tasks: Iterable[asyncio.Task[T]]) -> None:
    """Cancel what still runs and wait until it is over."""
    all_ = list(tasks)
    left = [task for task in all_ if not task.done()]
    for task in left:
        task.cancel()
    if left:
        await asyncio.wait(left)
    for task in all_:  # whoever waits hears of the first error; the others are heard of here
        if task.done() and not task.cancelled():
            task.exception()


async def pooled(count: int, workers: int, job: Callable[[int], Coroutine[object, object, bool]]) -> None:
    """Do the jobs 0 … count - 1, at most `workers` at a time, in order; a job that answers False lets
    nothing new begin."""
    waiting = iter(range(count))
    going = True

    async def worker() -> None:
        nonlocal going
        for number in waiting:
            going = await job(number) and going
            if not going:
                return

    await together(worker() for _ in range(min(workers, count)))
