"""Whether processes have ended. One that is reaped by nobody stays as a zombie, and one may go between two looks."""

from __future__ import annotations

import asyncio

import psutil


def gone(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


async def all_gone(*pids: int) -> None:
    """A killed process is there for a moment after the signal was sent."""
    async with asyncio.timeout(60):
        while not all(map(gone, pids)):
            await asyncio.sleep(0.002)
