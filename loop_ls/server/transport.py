"""Standard input and output, or one TCP connection, as a source of messages and a writer.

Standard output belongs to the protocol alone: the real one is taken aside and the descriptor is
pointed at standard error, so that prints of ours, of libraries and of child processes end in the log.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from typing import Protocol

from loop_ls.server.inbox import EndOfInput, Inbox, decode
from loop_ls.server.wire import Frames, frame

_CHUNK = 1 << 16


class Writer(Protocol):
    """What the protocol sends through."""

    def write(self, data: bytes) -> None: ...

    def close(self) -> None: ...


class Pipe:
    """Whole frames onto a descriptor. Blocks while the client does not read; the reader goes on."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def write(self, data: bytes) -> None:
        view = memoryview(frame(data))
        while view:
            view = view[os.write(self._descriptor, view) :]

    def close(self) -> None:
        os.close(self._descriptor)


class Connection:
    """Whole frames onto a TCP connection."""

    def __init__(self, stream: asyncio.StreamWriter) -> None:
        self._stream = stream

    def write(self, data: bytes) -> None:
        self._stream.write(frame(data))

    def close(self) -> None:
        self._stream.close()


def claim_stdio() -> tuple[int, Pipe]:
    """The client's input and output. Afterwards nobody else can read the one or write to the other."""
    source, target = os.dup(0), os.dup(1)
    sys.stdout.flush()
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    if sys.platform == "win32":
        import msvcrt

        for descriptor in (source, target):
            msvcrt.setmode(descriptor, os.O_BINARY)
    return source, Pipe(target)


def read_in_thread(descriptor: int, inbox: Inbox) -> threading.Thread:
    """Read whole messages off the loop: it stays responsive however slowly they come in."""

    def read() -> None:
        frames = Frames()
        while True:
            try:
                data = os.read(descriptor, _CHUNK)
            except OSError:
                data = b""
            if not data:
                inbox.put([EndOfInput()])
                return
            inbox.put([decode(body) for body in frames.feed(data)])

    thread = threading.Thread(target=read, name="loop-ls reader", daemon=True)
    thread.start()
    return thread


async def read_connection(reader: asyncio.StreamReader, inbox: Inbox) -> None:
    frames = Frames()
    while data := await reader.read(_CHUNK):
        inbox.put([decode(body) for body in frames.feed(data)])
    inbox.put([EndOfInput()])
