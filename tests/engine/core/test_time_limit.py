"""Work within a limit of the run's own time."""

from __future__ import annotations

import asyncio
from typing import cast

import pytest

from loop_ls.engine.core.ports import Failure, Recorder
from loop_ls.engine.core.time_limit import OVER_TIME, within


class Clock:
    """The time of a run: it says these moments, one after the other, and no more of them are asked for."""

    def __init__(self, *moments: float) -> None:
        self._moments = iter(moments)

    def active(self) -> float:
        return next(self._moments)


async def limited(work: asyncio.Future[str], *moments: float) -> str:
    async def wait() -> str:
        return await work

    return await within(cast(Recorder, Clock(*moments)), 5.0, wait())


async def test_WB_076_a_limit_that_is_reached_to_the_moment_is_over() -> None:
    with pytest.raises(Failure) as failure:
        await limited(asyncio.get_running_loop().create_future(), 5.0)
    assert (failure.value.code, failure.value.reason) == (OVER_TIME, "timeout")


async def test_WB_076_what_has_ended_by_then_counts() -> None:
    work = asyncio.get_running_loop().create_future()
    work.set_result("done")
    assert await limited(work, 4.0) == "done"


async def test_WB_076_work_that_fails_fails_as_it_did() -> None:
    work = asyncio.get_running_loop().create_future()
    work.set_exception(ValueError("broken"))
    with pytest.raises(ValueError, match="broken"):
        await limited(work, 4.0)


async def test_WB_076_work_ends_with_whoever_waits_for_it() -> None:
    begun, never = asyncio.Event(), asyncio.get_running_loop().create_future()

    async def work() -> str:
        begun.set()
        return await never

    waiting = asyncio.create_task(within(cast(Recorder, Clock(4.0, 4.0)), 5.0, work()))
    await begun.wait()
    waiting.cancel()
    await asyncio.wait({waiting})
    assert (waiting.cancelled(), never.cancelled()) == (True, True)
