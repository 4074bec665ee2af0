"""Server-sent events out of bytes, split on line feeds only.

Splitting decoded text into lines (as HTTP libraries offer) also cuts at U+2028, U+0085 and form
feeds, which may stand unescaped inside the JSON of an event. An event that is not finished by an
empty line never happened: that is how a cut stream shows.
"""

from __future__ import annotations

from collections.abc import Iterator

#: Longer lines are no model's answer; they would only fill the memory.
MAX_LINE = 8 * 1024 * 1024


class TooLong(Exception):
    """The other side sends one endless line."""


class EventReader:
    """Feed it bytes as they arrive; it gives the `data` of every finished event."""

    def __init__(self) -> None:
        self._rest = bytearray()
        self._data: list[bytes] = []

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        self._rest += chunk
        start = 0
        while (end := self._rest.find(b"\n", start)) >= 0:
            line = bytes(self._rest[start:end]).removesuffix(b"\r")
            start = end + 1
            if not line and self._data:
                yield b"\n".join(self._data)
                self._data.clear()
            elif line.startswith(b"data:"):
                self._data.append(line[5:].removeprefix(b" "))
        del self._rest[:start]
        if len(self._rest) > MAX_LINE:
            raise TooLong
