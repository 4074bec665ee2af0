"""The engine of a project in a thread of this process, found by commands as the one that runs there."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from loop_ls.app.engine import build
from loop_ls.client.engine_location import read_handover
from loop_ls.engine.process import engine_process
from loop_ls.engine.process.engine_process import Options, serve
from loop_ls.engine.process.instance_lock import DataFolder

SECONDS = 60.0


@contextmanager
def engine_of(root: Path, data: Path) -> Iterator[None]:
    """An engine that serves the project at `root` until the block ends."""
    leave: list[Callable[[], None]] = []
    folder = DataFolder(data)
    folder.take()
    loop = asyncio.new_event_loop()
    before, engine_process.on_signals = engine_process.on_signals, leave.append  # a thread hears no signals
    thread = threading.Thread(target=_run, args=(loop, folder, root), daemon=True)
    thread.start()
    try:
        _wait_for(data, thread)
        yield
    finally:
        engine_process.on_signals = before
        if leave:
            loop.call_soon_threadsafe(leave[0])
        thread.join(SECONDS)
        folder.release()


def _run(loop: asyncio.AbstractEventLoop, folder: DataFolder, root: Path) -> None:
    asyncio.set_event_loop(loop)
    loop.run_until_complete(serve(folder, Options(shutdown_grace=0.0), partial(build, root=root)))
    loop.close()


def _wait_for(data: Path, thread: threading.Thread) -> None:
    written = threading.Event()
    for _ in range(int(SECONDS / 0.02)):
        if read_handover(data) is not None:
            return
        assert thread.is_alive(), "the engine ended before it could be found"
        written.wait(0.02)
    raise AssertionError("no engine was there in time")
