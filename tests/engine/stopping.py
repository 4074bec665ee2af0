"""How a stop is asserted: without help.

A `wait_for` around what should have ended would cancel it at its limit, and a cancellation after a stop looks like
the stop itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from loop_ls.engine.core.ports import Stopped


async def ends(task: asyncio.Future[Any], seconds: float = 60.0) -> None:
    """The task ends by itself in that time, however it ends."""
    done, _ = await asyncio.wait({task}, timeout=seconds)
    if not done:
        task.cancel()
    assert done, f"it goes on {seconds:g} s later"


async def ends_stopped(task: asyncio.Future[Any], seconds: float = 60.0) -> None:
    await ends(task, seconds)
    with pytest.raises(Stopped):
        task.result()


async def until(seen: Callable[[], object], seconds: float = 60.0) -> None:
    async with asyncio.timeout(seconds):
        while not seen():
            await asyncio.sleep(0.001)
