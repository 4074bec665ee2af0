"""Ctrl-C while a run is followed."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from loop_ls.client import EngineClient
    from loop_ls.contract.answers import Controlled, Refusal
    from loop_ls.text.json_value import JsonObject

INTERRUPTED = 5
#: After a stop the last facts come within this; the engine needs milliseconds.
STOP_SECONDS = 10.0


class Stop:
    """Ctrl-C: the first one stops the run, the second leaves it alone."""

    def __init__(self, engine: EngineClient, run_id: str) -> None:
        self._engine, self._run_id = engine, run_id
        self._given_up = asyncio.Event()
        self._stopping: asyncio.Task[Controlled | Refusal] | None = None

    @property
    def asked(self) -> bool:
        """Whether somebody has."""
        return self._stopping is not None

    @contextmanager
    def on_interrupt(self) -> Iterator[None]:
        loop = asyncio.get_running_loop()
        undo = _handle(loop, self._interrupted)
        try:
            yield
        finally:
            undo()

    def _interrupted(self) -> None:
        if self.asked:
            self._given_up.set()
            return
        loop = asyncio.get_running_loop()
        self._stopping = loop.create_task(self._engine.stop(self._run_id))
        loop.call_later(STOP_SECONDS, self._given_up.set)

    async def unless_given_up(self, coming: Awaitable[JsonObject | None]) -> JsonObject | None:
        """The next event; None when the person gave up, or there are no more."""
        waiting = asyncio.ensure_future(coming)
        leaving = asyncio.ensure_future(self._given_up.wait())
        try:
            await asyncio.wait({waiting, leaving}, return_when=asyncio.FIRST_COMPLETED)
            return None if not waiting.done() else waiting.result()
        finally:
            for task in (waiting, leaving):
                task.cancel()
            await asyncio.gather(waiting, leaving, return_exceptions=True)


def _handle(loop: asyncio.AbstractEventLoop, interrupted: Callable[[], None]) -> Callable[[], None]:
    """Ctrl-C, and the end of the terminal, call `interrupted`. Answers what undoes that."""
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = [signal.getsignal(number) for number in numbers]
    for number in numbers:
        signal.signal(number, lambda *_: loop.call_soon_threadsafe(interrupted))

    def undo() -> None:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)

    return undo
