"""A worker as a process: takes runs from the common queue until it is told to leave. No folder of its own, and a
port only for the probes of whoever watches over it.

Leaving loses nothing: what it had goes on with the other workers at once.
"""

from __future__ import annotations

import asyncio
import logging
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from loop_ls.engine.api.probes import probes
from loop_ls.engine.api.server import EVERYWHERE, Listening, listen
from loop_ls.engine.process.signals import SHUTDOWN_GRACE, on_signals
from loop_ls.engine.providers import Providers
from loop_ls.engine.service import Engine

log = logging.getLogger(__name__)


async def work(
    build: Callable[[Path, Providers], Engine],
    ready: Callable[[], None] = lambda: None,
    probe_port: int | None = None,
) -> str | None:
    """Work until a signal comes; the sentence says why it ended where that was not asked for. Raises
    `JournalRefused` and `PortTaken`."""
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
        listening = None if probe_port is None else Listening(listen(probe_port, EVERYWHERE))
        await engine.open()
        try:
            if listening is not None:
                await listening.start(
                    probes(lambda: engine.heartbeat.is_ready("loops"), partial(_not_ready, engine, leaving))
                )
            ready()
            why = await leaving
            if why is None:
                await engine.drain(SHUTDOWN_GRACE, now)
            return why
        finally:
            await engine.close()
            if listening is not None:
                await listening.stop()
            await providers.aclose()


def _not_ready(engine: Engine, leaving: asyncio.Future[str | None]) -> str:
    if leaving.done():
        return "shutting down: its runs continue elsewhere"
    return "" if engine.heartbeat.is_ready("tasks") else "the database cannot be reached"
