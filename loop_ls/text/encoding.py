"""Columns as editors count them (LSP position encodings), and back. Clamped, never raises."""

from __future__ import annotations

from typing import Literal

Encoding = Literal["utf-8", "utf-16", "utf-32"]


def to_units(line: str, column: int, encoding: Encoding) -> int:
    """The column in units of `encoding` for a column in code points."""
    column = max(0, min(column, len(line)))
    if encoding == "utf-32" or line.isascii():
        return column
    if encoding == "utf-16":
        return column + sum(character > "\uffff" for character in line[:column])
    return len(line[:column].encode("utf-8", "surrogatepass"))


def from_units(line: str, units: int, encoding: Encoding) -> int:
    """The column in code points; a place inside a character counts as in front of it."""
    units = max(0, units)
    if encoding == "utf-32" or line.isascii():
        return min(units, len(line))
    used = 0
    for column, character in enumerate(line):
        used += _width(character, encoding)
        if used > units:
            return column
    return len(line)


def _width(character: str, encoding: Encoding) -> int:
    if encoding == "utf-16":
        return 2 if character > "\uffff" else 1
    point = ord(character)
    return 1 if point < 0x80 else 2 if point < 0x800 else 3 if point < 0x10000 else 4
