"""Standard input and output, or one TCP connection, as a source of messages and a writer.

Standard output belongs to the protocol alone: the real one is taken aside and the descriptor is
pointed at standard error, so that prints of ours, of libraries and of child processes end in the log.
"""

from __future__ import annotations

import asyncio
import os
import select
import sys
import threading
import time

from loop_ls.server.rpc.framing import Frames, frame
from loop_ls.server.rpc.message_queue import Arrival, EndOfInput, Inbox, decode

_CHUNK = 1 << 16
#: Seconds that a client has at the end to take what it was sent.
_PARTING = 2.0
#: Bytes that are kept for a client that does not read; then it counts as gone.
_MOST_WAITING = 256 * 1024 * 1024


class Pipe:
    """Whole frames onto a descriptor. A client that does not read holds nothing up: what it does not
    take is kept until it does."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._waiting = bytearray()

    def write(self, data: bytes) -> None:
        """Raises `OSError` when the client is gone."""
        data = frame(data)
        if not self._waiting:
            data = data[self._write(data) :]
            if not data:
                return
            asyncio.get_running_loop().add_writer(self._descriptor, self._drain)
        self._waiting += data
        if len(self._waiting) > _MOST_WAITING:
            raise TimeoutError("the client does not read its messages")

    def _write(self, data: bytes | bytearray) -> int:
        try:
            return os.write(self._descriptor, data)
        except BlockingIOError:
            return 0

    def _drain(self) -> None:
        try:
            del self._waiting[: self._write(self._waiting)]
        except OSError:  # gone; its end of input tells the server
            self._waiting.clear()
        if not self._waiting:
            asyncio.get_running_loop().remove_writer(self._descriptor)

    def close(self) -> None:
        """Hand over what is left, to a client that still takes it."""
        until = time.monotonic() + _PARTING
        while self._waiting and time.monotonic() < until:
            try:
                select.select([], [self._descriptor], [], 0.1)
                del self._waiting[: self._write(self._waiting)]
            except OSError:
                break
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
    if sys.platform != "win32" and not os.isatty(target):
        os.set_blocking(target, False)
    return source, Pipe(target)


def read(descriptor: int, inbox: Inbox) -> None:
    """Have the loop hear of messages: by itself where the system can tell it, else from a thread."""
    if sys.platform == "win32" or not _read_on_loop(descriptor, inbox):
        read_in_thread(descriptor, inbox)


def _read_on_loop(descriptor: int, inbox: Inbox) -> bool:
    """A thread in between would cost a third of the time of a keystroke."""
    loop = asyncio.get_running_loop()
    frames = Frames()

    def readable() -> None:
        arrivals: list[Arrival] = []
        ended = False
        while True:  # all that is there: changes are coalesced, cancelled requests never looked at
            try:
                data = os.read(descriptor, _CHUNK)
            except BlockingIOError:
                break
            except OSError:
                data = b""
            if not data:
                ended = True
                break
            arrivals += [decode(body) for body in frames.feed(data)]
            if len(data) < _CHUNK:
                break
        if ended:
            loop.remove_reader(descriptor)
            arrivals.append(EndOfInput())
        inbox.receive(arrivals)

    if os.isatty(descriptor):
        return False  # its blocking mode is shared with the terminal
    try:
        loop.add_reader(descriptor, readable)
    except (OSError, NotImplementedError):  # a regular file
        return False
    os.set_blocking(descriptor, False)
    return True


def read_in_thread(descriptor: int, inbox: Inbox) -> threading.Thread:
    """Read whole messages off the loop."""

    def work() -> None:
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

    thread = threading.Thread(target=work, name="loop-ls reader", daemon=True)
    thread.start()
    return thread


async def read_connection(reader: asyncio.StreamReader, inbox: Inbox) -> None:
    frames = Frames()
    while data := await reader.read(_CHUNK):
        inbox.put([decode(body) for body in frames.feed(data)])
    inbox.put([EndOfInput()])
