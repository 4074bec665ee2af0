"""Being told to leave by the system, for the engine and for a worker. Leaving itself is theirs."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable

#: Seconds that calls in progress have when we are told to leave: most of them are paid already. A second one cuts them.
SHUTDOWN_GRACE = 5.0


def on_signals(leave: Callable[[], None]) -> None:
    """Call `leave` in the running loop for each SIGTERM and SIGINT."""
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        if os.name == "nt":
            signal.signal(number, lambda *_: loop.call_soon_threadsafe(leave))
        else:
            loop.add_signal_handler(number, leave)
