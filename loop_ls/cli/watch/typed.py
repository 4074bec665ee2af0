"""Lines that a person types on the terminal: alone, or while a run is followed."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Awaitable, Callable

#: A line from a person while a run is followed; None at the end of the input.
AskLine = Callable[[str], Awaitable[str | None]]


def terminal_line(question: str) -> str | None:
    """A line where nothing else is going on; None at the end of the input. Raises `KeyboardInterrupt`."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        print(question, end="", file=sys.stderr, flush=True)
        line = sys.stdin.readline()
    finally:
        signal.signal(signal.SIGINT, before)
    return line.rstrip("\n") if line else None


async def typed_line(question: str) -> str | None:
    """A line while events come in. Ctrl-C does what it does for the run that is followed.

    Not in a thread, which nothing could end. Where the event loop cannot wait for a terminal (Windows), it waits for
    the line alone, and Ctrl-C is the end of the input.
    """
    loop, ready = asyncio.get_running_loop(), asyncio.Event()
    terminal = sys.stdin.fileno()
    try:
        loop.add_reader(terminal, ready.set)
    except NotImplementedError:
        return _alone(question)
    try:
        print(question, end="", file=sys.stderr, flush=True)
        await ready.wait()
        line = sys.stdin.readline()
    except OSError:  # the terminal is gone
        return None
    finally:
        loop.remove_reader(terminal)
    return line.rstrip("\n") if line else None


def _alone(question: str) -> str | None:
    try:
        return terminal_line(question)
    except KeyboardInterrupt:
        return None
