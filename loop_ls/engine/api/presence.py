"""Who is there: listeners and requests. When nobody is, attended runs end and the engine leaves.

A run that was started to be watched ends when its watchers are gone for the grace time, so that a
closed window costs no money over night (UP-59). A request is no watcher: what polls numbers or lists
keeps the engine, and no run; neither does a page of a browser, which is easily forgotten in a tab.
Detached runs go on; while one does, the engine stays.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager


class Presence:
    """`teardown` ends attended runs; `busy` says whether anything runs; `leave` ends the engine.

    `grace` None: runs are never torn down. `idle` None: the engine never leaves by itself.
    """

    def __init__(
        self,
        *,
        teardown: Callable[[], Awaitable[None]],
        busy: Callable[[], Awaitable[bool]],
        leave: Callable[[], None],
        grace: float | None = 60.0,
        idle: float | None = None,
    ) -> None:
        self._teardown, self._busy, self._leave = teardown, busy, leave
        self._grace, self._idle = grace, idle
        self.listeners = 0
        self._visitors = 0
        self._seen = self._now()
        #: Since when attended runs wait for a listener; None: there is one, or no run waits for any.
        self._unattended: float | None = None
        self._changed = asyncio.Event()
        self._watch: asyncio.Task[None] | None = None

    def touch(self) -> None:
        self._seen = self._now()

    def expect(self) -> None:
        """A run goes on that somebody is to watch: its listener has the grace time to come, too."""
        if not self.listeners and self._unattended is None:
            self._unattended = self._now()
            self._changed.set()

    @staticmethod
    def _now() -> float:
        return asyncio.get_running_loop().time()

    @contextmanager
    def listening(self) -> Iterator[None]:
        self.listeners += 1
        self._unattended = None
        self._changed.set()
        try:
            yield
        finally:
            self.listeners -= 1
            self.touch()
            if not self.listeners:
                self._unattended = self._now()
            self._changed.set()

    @contextmanager
    def visiting(self) -> Iterator[None]:
        """A page that shows what happens: it keeps the engine, and no run."""
        self._visitors += 1
        self._changed.set()
        try:
            yield
        finally:
            self._visitors -= 1
            self.touch()
            self._changed.set()

    def start(self) -> None:
        self._watch = asyncio.get_running_loop().create_task(self._keep_watch())

    async def aclose(self) -> None:
        if self._watch is not None:
            self._watch.cancel()
            await asyncio.gather(self._watch, return_exceptions=True)

    async def _keep_watch(self) -> None:
        while True:
            self._changed.clear()
            if self.listeners:
                await self._changed.wait()
                continue
            if self._grace_is_over():
                self._unattended = None
                await self._teardown()
            if self._idle_time_is_over() and not await self._busy():
                self._leave()
                return
            await self._pause()

    def _grace_is_over(self) -> bool:
        if self._grace is None or self._unattended is None:
            return False
        return self._now() - self._unattended >= self._grace

    def _idle_time_is_over(self) -> bool:
        return self._idle is not None and not self._visitors and self._now() - self._seen >= self._idle

    async def _pause(self) -> None:
        """Until somebody comes, or the next moment at which there may be something to do."""
        now, due = self._now(), list[float]()
        if self._grace is not None and self._unattended is not None:
            due.append(self._unattended + self._grace - now)
        if self._idle is not None and not self._visitors:
            due.append(max(self._seen + self._idle - now, min(self._idle, 2.0)))
        try:
            async with asyncio.timeout(max(min(due), 0.01) if due else None):
                await self._changed.wait()
        except TimeoutError:
            return
