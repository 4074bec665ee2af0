"""Server-sent events out of bytes, split where their standard says: at a line feed, a carriage return, or both.

Splitting decoded text into lines (as HTTP libraries offer) also cuts at U+2028, U+0085 and form
feeds, which may stand unescaped inside the JSON of an event. An event that is not finished by an
empty line never happened: that is how a cut stream shows.
"""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import Iterator

#: Longer lines are no model's answer; they would only fill the memory. The same of the lines of one event.
MAX_LINE = 8 * 1024 * 1024
_END = re.compile(rb"\r\n|\n|\r")


class TooLong(Exception):
    """The other side sends one endless line, or an event without an end."""


class EventReader:
    """Feed it bytes as they arrive; it gives the `data` of every finished event."""

    def __init__(self) -> None:
        self._rest = bytearray()
        self._data: list[bytes] = []
        self._size = 0
        self._begun = False  # a byte-order mark may stand before the first line
        self._after_return = False  # the line feed of a pair that was cut in the middle ends no second line

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        self._rest += chunk
        if not self._begun and not self._begin():
            return
        if self._after_return and self._rest:
            self._after_return = False
            if self._rest[0] == 0x0A:
                del self._rest[:1]
        start = 0
        for end in _END.finditer(bytes(self._rest)):
            line = bytes(self._rest[start : end.start()])
            start = end.end()
            if not line and self._data:
                yield b"\n".join(self._data)
                self._data.clear()
                self._size = 0
            elif line.startswith(b"data:"):
                self._data.append(line[5:].removeprefix(b" "))
                self._size += len(line)
        self._after_return = self._rest.endswith(b"\r") and start == len(self._rest)
        del self._rest[:start]
        if len(self._rest) > MAX_LINE or self._size > MAX_LINE:
            raise TooLong

    def _begin(self) -> bool:
        """Whether it is known that no byte-order mark is cut in the middle."""
        if BOM_UTF8.startswith(self._rest) and len(self._rest) < len(BOM_UTF8):
            return False
        if self._rest.startswith(BOM_UTF8):
            del self._rest[: len(BOM_UTF8)]
        self._begun = True
        return True
