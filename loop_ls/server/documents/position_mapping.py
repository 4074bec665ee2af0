"""Places of one text, between what the editor counts and code points. What is behind the text is its end."""

from __future__ import annotations

from loop_ls.text.encoding import Encoding, from_units, to_units
from loop_ls.text.json_value import Json, JsonObject
from loop_ls.text.lines import BOM, Text
from loop_ls.text.position import Position, Span


class PositionMapping:
    """Reads and writes positions and ranges of `text` in units of `encoding`. `sent`: the client sent this text, so a
    byte order mark in front of it is one of the characters that it counts."""

    __slots__ = ("_encoding", "_text", "mark")

    def __init__(self, text: Text, encoding: Encoding, sent: bool = False) -> None:
        self._text, self._encoding = text, encoding
        #: Units of the byte order mark that are counted.
        self.mark = to_units(BOM, 1, encoding) if sent and text.bom else 0

    def position(self, at: Position) -> dict[str, int]:
        line, column = at
        if column and line < len(self._text.lines):
            column = to_units(self._text.lines[line], column, self._encoding)
        return {"line": line, "character": column if line else column + self.mark}

    def range(self, span: Span) -> JsonObject:
        return {"start": self.position(span.start), "end": self.position(span.end)}

    def edit(self, span: Span, new: str) -> JsonObject:
        """As editors are told of it. What comes behind the last line end is written before it: Neovim has no
        line there, and would keep an empty one."""
        end, lines = self._text.end, self._text.lines
        if span.start == span.end == end and end.line and not end.column:
            last = Position(end.line - 1, len(lines[end.line - 1]))
            eol = self._text.slice(Span(last, end))
            if new.endswith(eol):
                return {"range": self.range(Span(last, last)), "newText": eol + new.removesuffix(eol)}
        return {"range": self.range(span), "newText": new}

    def read(self, line: int, units: int) -> Position:
        """A place of the editor; one behind the text is the end of the text."""
        if line >= len(self._text.lines):
            return self._text.end
        return Position(line, from_units(self._text.lines[line], units if line else units - self.mark, self._encoding))

    def read_position(self, position: Json) -> Position:
        """A position as it came in JSON. Raises `ValueError` for something else."""
        if not isinstance(position, dict) or not {"line", "character"} <= position.keys():
            raise ValueError("a position must have a line and a character")
        line, units = position["line"], position["character"]
        if not isinstance(line, int) or not isinstance(units, int):
            raise ValueError("line and character of a position must be numbers")
        if line < 0 or units < 0:
            raise ValueError("line and character of a position must be 0 or more")
        return self.read(line, units)

    def read_range(self, found: Json) -> Span:
        """A range as it came in JSON. Raises `ValueError` for something else."""
        if not isinstance(found, dict) or not {"start", "end"} <= found.keys():
            raise ValueError("a range must have a start and an end")
        a, b = self.read_position(found["start"]), self.read_position(found["end"])
        return Span(a, b) if a <= b else Span(b, a)
