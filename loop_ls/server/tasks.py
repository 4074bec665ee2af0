"""Every task of the server has an owner here: none is lost, none fails silently, all end at shutdown."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import TypeVar

T = TypeVar("T")

logger = logging.getLogger(__name__)

#: Seconds of work between two looks at the messages that came meanwhile.
SLICE = 0.004


class Tasks:
    """Running work. A failure is logged with its stack trace; the server lives on."""

    def __init__(self) -> None:
        self._running: set[asyncio.Task[object]] = set()

    def start(
        self,
        work: Coroutine[object, None, T],
        name: str,
        failed: Callable[[BaseException], None] | None = None,
    ) -> asyncio.Task[T]:
        task = asyncio.get_running_loop().create_task(work, name=name)
        self._running.add(task)

        def done(task: asyncio.Task[T]) -> None:
            self._running.discard(task)
            if task.cancelled() or (error := task.exception()) is None:
                return
            if failed is not None:
                failed(error)
            else:
                logger.error("%s failed", name, exc_info=error)

        task.add_done_callback(done)
        return task

    async def close(self, limit: float = 2.0) -> None:
        """Cancel what runs and wait for it, but not for ever."""
        pending = {task for task in self._running if task is not asyncio.current_task()}
        for task in pending:
            task.cancel()
        if pending:
            await asyncio.wait(pending, timeout=limit)
