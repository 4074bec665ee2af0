"""One program from its start to its end, read line by line as it speaks, within limits of time.

Knows nothing of what the lines say. Whoever is cancelled while it waits here leaves no process behind.
"""

from __future__ import annotations

import asyncio
import time
from asyncio.subprocess import DEVNULL, PIPE
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Literal

from loop_ls.engine.subprocesses import supervisor
from loop_ls.text.record import equal_record

CHUNK = 65_536
#: Of standard error, the end is kept.
KEPT = 65_536
#: A line of a program that never ends it is cut here, so that it cannot fill the memory.
LONGEST_LINE = 64 * 1024 * 1024
#: What an interrupted program says is heard up to so many bytes: its cost is one line.
LAST_WORDS = 4 * 1024 * 1024


class OverTime(Exception):
    """The program was ended because it took too long, or was silent too long."""

    def __init__(self, which: Literal["inactivity", "wall-clock"], seconds: float) -> None:
        super().__init__(f"{which} limit of {seconds:g} s")
        self.which, self.seconds = which, seconds


@equal_record
class Ended:
    """How it ended. A program that a signal ended has a status above 128."""

    status: int
    errors: str


@equal_record
class Invocation:
    """`stdin` None: the program's input is closed from the beginning."""

    argv: Sequence[str]
    folder: str | None
    environment: Mapping[str, str]
    stdin: str | None = None
    idle: float | None = None
    total: float | None = None


@dataclass(slots=True)
class _Limits:
    """`began` and `worked`: when it started, and when it last showed that it goes on."""

    idle: float | None
    total: float | None
    began: float = field(default_factory=time.monotonic)
    worked: float = field(default_factory=time.monotonic)

    def left(self) -> float | None:
        now = time.monotonic()
        idle = None if self.idle is None else self.idle - (now - self.worked)
        total = None if self.total is None else self.total - (now - self.began)
        limits = [max(0.0, limit) for limit in (idle, total) if limit is not None]
        return min(limits) if limits else None

    def over(self) -> OverTime:
        since = time.monotonic()
        if self.total is not None and (self.idle is None or since - self.began >= self.total):
            return OverTime("wall-clock", self.total)
        return OverTime("inactivity", self.idle or 0.0)


async def run_lines(what: Invocation, hear: Callable[[str], bool], aside: Callable[[str], bool] | None = None) -> Ended:
    """Start it and hand each line to `hear` without its end; it says whether the line shows that the program works.
    `aside` gets the lines of standard error, and says which of them are no errors. Raises `OverTime` and `OSError`."""
    held = await supervisor.start(
        what.argv,
        cwd=what.folder or None,
        env=what.environment,
        stdin=DEVNULL if what.stdin is None else PIPE,
    )
    process = held.process
    assert process.stdout is not None
    assert process.stderr is not None
    errors = asyncio.create_task(_tail(process.stderr, aside))
    feeding = asyncio.create_task(_feed(process.stdin, what.stdin))
    limits = _Limits(what.idle, what.total)
    try:
        async for line in _lines(process.stdout, limits):
            if hear(line):
                limits.worked = time.monotonic()
        status = await held.wait()
        return Ended(status, await errors)
    finally:
        last = asyncio.create_task(_last_words(process.stdout, hear))
        if held.running:
            await asyncio.shield(held.interrupt())
        held.release()
        with suppress(asyncio.CancelledError):  # the program is gone, so its output has an end
            await asyncio.wait({last, errors}, timeout=1)
        for task in (feeding, errors, last):
            task.cancel()
        await asyncio.gather(feeding, errors, last, return_exceptions=True)


async def _lines(stream: asyncio.StreamReader, limits: _Limits, most: int | None = None) -> AsyncIterator[str]:
    """Split at line feeds only: texts inside of JSON hold every other sign that ends a line somewhere. Of more than
    `most` bytes, the rest is left."""
    rest, read = bytearray(), 0
    while True:
        chunk = await _chunk(stream, limits)
        read += len(chunk)
        if most is not None and read > most:
            return
        rest += chunk
        if chunk and b"\n" not in chunk and len(rest) <= LONGEST_LINE:
            limits.worked = time.monotonic()
            continue  # a line that is long is not looked through again for each piece of it
        *whole, last = rest.split(b"\n")
        for line in whole:
            yield _text(line)
        rest = bytearray(last) if len(last) <= LONGEST_LINE else bytearray()
        if not chunk:
            if rest:
                yield _text(rest)
            return


async def _chunk(stream: asyncio.StreamReader, limits: _Limits) -> bytes:
    try:
        async with asyncio.timeout(limits.left()):
            return await stream.read(CHUNK)
    except TimeoutError:
        raise limits.over() from None


def _text(line: bytes | bytearray) -> str:
    return line.decode("utf-8", "replace").rstrip("\r")


async def _last_words(stream: asyncio.StreamReader, hear: Callable[[str], bool]) -> None:
    """What a program that is interrupted says before it ends: what it has cost. One that goes on talking is not heard
    to its end: the rest is read away."""
    async for line in _lines(stream, _Limits(None, None), LAST_WORDS):
        hear(line)
    while await stream.read(CHUNK):
        pass


async def _tail(stream: asyncio.StreamReader, aside: Callable[[str], bool] | None) -> str:
    if aside is not None:
        return await _tail_of_lines(stream, aside)
    kept = b""
    while chunk := await stream.read(CHUNK):
        kept = (kept + chunk)[-KEPT:]
    return kept.decode("utf-8", "replace")


async def _tail_of_lines(stream: asyncio.StreamReader, aside: Callable[[str], bool]) -> str:
    kept, size = deque[str](), 0
    async for line in _lines(stream, _Limits(None, None)):
        if aside(line):
            continue
        kept.append(line)
        size += len(line) + 1
        while size > KEPT and len(kept) > 1:
            size -= len(kept.popleft()) + 1
    return "\n".join(kept)[-KEPT:]


async def _feed(stream: asyncio.StreamWriter | None, text: str | None) -> None:
    if stream is None or text is None:
        return
    with suppress(BrokenPipeError, ConnectionResetError):
        stream.write(text.encode("utf-8", "replace"))
        await stream.drain()
        stream.close()
