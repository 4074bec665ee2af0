"""A worker as a process: takes runs from the common queue until it is told to leave. No port, no folder of its own.

Leaving loses nothing: what it had goes on with the other workers at once.
"""

from __future__ import annotations

import asyncio
import logging
import tempfile
from collections.abc import Callable
from pathlib import Path

from loop_ls.engine.process.signals import SHUTDOWN_GRACE, on_signals
from loop_ls.engine.providers import Providers
from loop_ls.engine.service import Engine

log = logging.getLogger(__name__)


async def work(build: Callable[[Path, Providers], Engine], ready: Callable[[], None] = lambda: None) -> str | None:
    """Work until a signal comes; the sentence says why it ended where that was not asked for. Raises
    `JournalRefused`."""
    leaving: asyncio.Future[str | None] = asyncio.get_running_loop().create_future()

    now = asyncio.Event()

    def leave(why: str | None = None) -> None:
        if leaving.done():
            now.set()
        if not leaving.done():
            leaving.set_result(why)

    on_signals(leave)
    with tempfile.TemporaryDirectory(prefix="loop-ls-worker-") as folder:
        providers = Providers(log_folder=Path(folder))
        engine = build(Path(folder), providers)
        engine.outdated = leave
        await engine.open()
        try:
            ready()
            why = await leaving
            if why is None:
                await engine.drain(SHUTDOWN_GRACE, now)
            return why
        finally:
            await engine.close()
            await providers.aclose()
