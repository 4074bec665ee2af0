"""Frames on the wire: bytes in, message bodies out, and back.

Knows headers and nothing of JSON. Noise between messages (a stray print of a wrapper, a header
without a length) is skipped up to the next length, so that one bad frame costs one message.
"""

from __future__ import annotations

import re

#: A message larger than this is dropped while it is read: no editor sends one.
MOST_BYTES = 512 * 1024 * 1024
#: Bytes that are no header are kept only this long.
_MOST_HEADER = 64 * 1024
_LENGTH = re.compile(rb"content-length[ \t]*:[ \t]*(\d{1,18})[ \t]*\r?\n", re.IGNORECASE)
_END = re.compile(rb"\r?\n\r?\n")


class Frames:
    """Cuts a stream of bytes into message bodies."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._expected: int | None = None
        self._skip = 0

    def feed(self, data: bytes) -> list[bytes]:
        """The bodies that are complete now, in order."""
        self._buffer += data
        bodies = []
        while (body := self._next()) is not None:
            bodies.append(body)
        return bodies

    def _next(self) -> bytes | None:
        while True:
            if self._skip:
                dropped = min(self._skip, len(self._buffer))
                del self._buffer[:dropped]
                self._skip -= dropped
                if self._skip:
                    return None
            if self._expected is None and not self._read_header():
                return None
            if self._skip:
                continue
            assert self._expected is not None
            if len(self._buffer) < self._expected:
                return None
            body = bytes(self._buffer[: self._expected])
            del self._buffer[: self._expected]
            self._expected = None
            return body

    def _read_header(self) -> bool:
        length = _LENGTH.search(self._buffer)
        if length is None:
            # Keep the tail: a header may have arrived in part.
            if len(self._buffer) > _MOST_HEADER:
                del self._buffer[:-1024]
            return False
        end = _END.search(self._buffer, length.end(1))
        if end is None:
            return False
        size = int(length.group(1))
        del self._buffer[: end.end()]
        if size > MOST_BYTES:
            self._skip = size
        else:
            self._expected = size
        return True


def frame(body: bytes) -> bytes:
    """A body as it goes out."""
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
