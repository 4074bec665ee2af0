"""Columns as editors count them (LSP position encodings), and back. Clamped, never raises.

No character is looked at one by one in Python: a file may be one line of a megabyte.
"""

from __future__ import annotations

from typing import Literal

from loop_ls.text.pattern import pattern

Encoding = Literal["utf-8", "utf-16", "utf-32"]

#: What takes two units of UTF-16.
_WIDE = pattern("[\U00010000-\U0010ffff]")


def to_units(line: str, column: int, encoding: Encoding) -> int:
    """The column in units of `encoding` for a column in code points."""
    column = max(0, min(column, len(line)))
    if encoding == "utf-32" or line.isascii():
        return column
    if encoding == "utf-16":
        return column + len(_WIDE.findall(line[:column]))
    return len(line[:column].encode("utf-8", "surrogatepass"))


def from_units(line: str, units: int, encoding: Encoding) -> int:
    """The column in code points; a place inside a character counts as in front of it."""
    units = max(0, units)
    if encoding == "utf-32" or line.isascii():
        return min(units, len(line))
    if encoding == "utf-8":
        return _characters(line.encode("utf-8", "surrogatepass"), units)
    wide = 0
    for found in _WIDE.finditer(line):
        if found.start() + wide + 2 > units:
            return min(units - wide, found.start())
        wide += 1
    return min(units - wide, len(line))


def _characters(encoded: bytes, end: int) -> int:
    """The whole characters of UTF-8 in front of a byte."""
    end = min(end, len(encoded))
    while 0 < end < len(encoded) and encoded[end] & 0xC0 == 0x80:
        end -= 1
    return len(encoded[:end].decode("utf-8", "surrogatepass"))
