"""The hold that people have over one live run: pause, resume, stop, and the run's own clock.

Obeys at once and remembers nothing: what was asked is journalled first, by the service.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

from loop_ls.engine.ports import Stopped


class Control:
    """`calls` are the tasks that have a call in flight: a stop cancels them, a pause lets them finish."""

    def __init__(
        self,
        paused: bool = False,
        stopping: bool = False,
        active: float = 0.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.stopping, self.leaving = stopping, False
        self.calls: set[asyncio.Task[Any]] = set()
        self._clock, self._active = clock, active
        self._since: float | None = None if paused else clock()
        self._go, self._stopped = asyncio.Event(), asyncio.Event()
        if not paused or stopping:
            self._go.set()
        if stopping:
            self._stopped.set()

    @property
    def paused(self) -> bool:
        return not self._go.is_set()

    def pause(self) -> None:
        if not self.stopping:
            self._active, self._since = self.active(), None
            self._go.clear()

    def resume(self) -> None:
        if self._since is None:
            self._since = self._clock()
        self._go.set()

    def stop(self) -> None:
        """The call in flight is cancelled now; whatever waits at a gate wakes up with `Stopped`."""
        self.stopping = True
        self._stopped.set()
        self.resume()
        for call in list(self.calls):
            call.cancel()

    def active(self) -> float:
        """Seconds of work so far."""
        return self._active + (0.0 if self._since is None else self._clock() - self._since)

    async def gate(self) -> None:
        if not self._go.is_set():
            await self._go.wait()
        if self.stopping:
            raise Stopped

    async def stopped_within(self, seconds: float) -> bool:
        """Wait so long; True as soon as a stop came."""
        try:
            async with asyncio.timeout(seconds):
                await self._stopped.wait()
        except TimeoutError:
            return False
        return True
