"""Who owns runs while they go on, so that a crash of one process does not end them.

On one machine the journal alone tells which runs are unfinished, and the engine takes them up again at
once. An owner is told about each run too: with a shared database it hands them to the workers that live.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import Protocol

#: Brings a run to its end; returns at once for one that has ended. Two callers wait for the same run.
RunToEnd = Callable[[str], Awaitable[None]]


class Owner(Protocol):
    async def open(self, run: RunToEnd) -> None:
        """Called inside the running loop, before any run is owned."""
        ...

    async def own(self, runs: Iterable[str]) -> None:
        """Take these runs: new ones, and unfinished ones that it may know already."""
        ...

    async def close(self) -> None:
        """Let go of everything; unfinished runs stay unfinished."""
        ...


class NoOwner:
    """For tests and for engines that need no database of workflows: the journal is enough."""

    async def open(self, run: RunToEnd) -> None:
        return None

    async def own(self, runs: Iterable[str]) -> None:
        return None

    async def close(self) -> None:
        return None
