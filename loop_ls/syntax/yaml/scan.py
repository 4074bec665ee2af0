"""Small looks at written lines that libyaml's marks leave open: where a value really starts and ends."""

from __future__ import annotations

from collections.abc import Sequence as Lines

from loop_ls.text.pattern import pattern
from loop_ls.text.position import Position

#: anchors and tags in front of a value
_PROPERTY = pattern(r"(?:&[^\s,\[\]{}]+|!<[^>\s]*>|![^\s,\[\]{}]*)")
_BLANK = pattern(r"[ \t]*")
_HEADER = pattern(r"[|>][-+0-9]{0,2}")


def content_start(lines: Lines[str], start: Position) -> Position:
    """The first character behind the anchors, tags, comments and breaks at `start`."""
    line, column = start
    while line < len(lines):
        text = lines[line]
        column = _blank_end(text, column)
        if found := _PROPERTY.match(text, column):
            column = found.end()
        elif column < len(text) and text[column] != "#":
            return Position(line, column)
        else:
            line, column = line + 1, 0
    return start


def scalar_end(lines: Lines[str], start: Position, limit: Position) -> Position:
    """The end of a block scalar: of its last line with content, else of its header."""
    for line in range(min(limit.line, len(lines) - 1), start.line, -1):
        text = lines[line][: limit.column] if line == limit.line else lines[line]
        if text.strip(" \t"):
            return Position(line, len(text.rstrip(" \t")))
    header = _HEADER.match(lines[start.line], start.column)
    return Position(start.line, header.end() if header else start.column)


def _blank_end(text: str, column: int) -> int:
    found = _BLANK.match(text, column)
    return found.end() if found else column
