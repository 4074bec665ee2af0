"""Runs that come back after a crash, in the order in which somebody needs them.

Those that have something to do go on at once. Those that wait for a person are known, listed and can be
answered from the first moment; what drives them is made a few at a time, or as soon as somebody wants
something of them. So a thousand that wait hold up neither the one that works nor whoever asks.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial

from loop_ls.engine.runs.registry import LiveRun

#: Seconds between two of those that wait: the loop answers questions meanwhile.
GAP = 0.003


class CrashRecovery:
    """`begin` lets a run run; it is called once for each."""

    def __init__(self, begin: Callable[[LiveRun], None]) -> None:
        self._begin = begin
        self._runs: list[tuple[LiveRun, bool]] = []
        self._task: asyncio.Task[None] | None = None

    def add(self, run: LiveRun, in_flight: bool) -> None:
        """`in_flight`: a call of it was, when the engine died."""
        self._runs.append((run, in_flight))

    def open(self) -> None:
        """Let them run. What was written of them before is stored."""
        later = []
        for run, in_flight in self._runs:
            if waits(run) and not in_flight:
                run.control.needed = partial(self.now, run)
                later.append(run)
            else:
                self.now(run)
        self._runs.clear()
        if later:
            self._task = asyncio.create_task(self._rest(later))

    def now(self, run: LiveRun) -> None:
        """Somebody needs it, or its turn has come."""
        run.control.needed = None
        if not run.state.ended and not run.control.leaving:
            self._begin(run)

    async def _rest(self, later: list[LiveRun]) -> None:
        for run in later:
            if run.control.needed is not None:
                self.now(run)
                await asyncio.sleep(GAP)

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})


def waits(run: LiveRun) -> bool:
    """Whether a run has nothing to do until somebody says something."""
    return not run.control.stopping and (run.control.paused or run.state.status == "waiting_approval")
