"""The hold that people have over one live run: pause, resume, stop, and the run's own clock.

Obeys at once and remembers nothing: what was asked is journalled first, by the service.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TypeVar

from loop_ls.engine.core.ports import Stopped
from loop_ls.text.json_value import Json

T = TypeVar("T")
#: Seconds after which a clock is read again that may have jumped.
LOOK_AGAIN = 15.0


class Control:
    """`calls` are the tasks that have a call in progress: a stop cancels them, a pause lets them finish."""

    def __init__(
        self,
        paused: bool = False,
        stopping: bool = False,
        active: float = 0.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.stopping, self.leaving = stopping, False
        self.calls: set[asyncio.Task[object]] = set()
        self._clock, self._active = clock, active
        self._since: float | None = None if paused else clock()
        self._undivided = 0
        self._holding = False
        self.needed: Callable[[], None] | None = None  # whoever drives the run is made when it is needed
        self.changed: Mapping[str, Json] = {}  # what people changed of the loop while it runs
        self.notes: tuple[str, ...] = ()  # what people said to it, for the next prompt
        self._decided: dict[str, object] = {}
        self._asked: dict[str, asyncio.Event] = {}
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
            self._go.clear()
            self._tick()

    def hold(self) -> None:
        """No further call begins: the engine leaves as soon as those in progress have ended."""
        self._holding = True
        self._go.clear()

    def resume(self) -> None:
        if not self._holding or self.stopping:
            self._go.set()
        self._tick()
        self._wake()

    def stop(self) -> None:
        """The call in flight is cancelled now; whatever waits at a gate or for a person wakes up with
        `Stopped`."""
        if self.stopping:
            return  # what is being cancelled has to clean up, and must not be disturbed at that
        self.stopping = True
        self._stopped.set()
        self.resume()
        for asked in self._asked.values():
            asked.set()
        for call in list(self.calls):
            call.cancel()

    def take_notes(self) -> tuple[str, ...]:
        taken, self.notes = self.notes, ()
        return taken

    async def interruptible(self, work: Callable[[], Awaitable[T]]) -> T:
        """Do `work` as a call in flight. A stop cancels the task that does this; outside of here it is `Stopped`,
        no cancellation. Nothing begins once the run is told to stop."""
        if self.stopping:
            raise Stopped
        task = asyncio.current_task()
        assert task is not None
        self.calls.add(task)
        try:
            return await work()
        except asyncio.CancelledError:
            if self.stopping:
                task.uncancel()
                raise Stopped from None
            raise
        finally:
            self.calls.discard(task)

    def decide(self, place: str, answer: object) -> None:
        """A person has answered, which the journal knows already. The first answer counts."""
        self._decided.setdefault(place, answer)
        if asked := self._asked.get(place):
            asked.set()
        self._wake()

    def _wake(self) -> None:
        if self.needed is not None:
            self.needed()

    async def decided(self, place: str) -> object:
        """Wait for the answer from outside. Raises `Stopped`."""
        if place not in self._decided and not self.stopping:
            self._asked[place] = asyncio.Event()
            self._tick()
            try:
                await self._asked[place].wait()
            finally:
                del self._asked[place]
                self._tick()
        if self.stopping:
            raise Stopped
        return self._decided[place]

    def _tick(self) -> None:
        """The clock stands while the run is paused or waits for a person."""
        working = not self.paused and not self._asked
        if working and self._since is None:
            self._since = self._clock()
        elif not working and self._since is not None:
            self._active, self._since = self.active(), None

    def active(self) -> float:
        """Seconds of work so far."""
        return self._active + (0.0 if self._since is None else self._clock() - self._since)

    @contextmanager
    def undivided(self) -> Iterator[None]:
        """What is done inside is one piece for a pause: it goes on to its end. A stop ends it at once."""
        self._undivided += 1
        try:
            yield
        finally:
            self._undivided -= 1

    async def gate(self) -> None:
        if not self._go.is_set() and not self._undivided:
            await self._go.wait()
        if self.stopping:
            raise Stopped

    async def due(self, until: float, clock: Callable[[], float]) -> None:
        """Wait while the run is paused, until the clock says so. A machine that slept wakes up to the right
        time: it is looked at again and again."""
        while self.paused and (left := until - clock()) > 0:
            with suppress(TimeoutError):
                async with asyncio.timeout(min(left, LOOK_AGAIN)):
                    await self._go.wait()

    async def stopped_within(self, seconds: float) -> bool:
        """Wait so long; True as soon as a stop came."""
        try:
            async with asyncio.timeout(seconds):
                await self._stopped.wait()
        except TimeoutError:
            return False
        return True
