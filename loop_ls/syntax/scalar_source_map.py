"""A scalar as it is written: its characters with escapes resolved, each with its place in the file.

Lines are not folded and indentation stays, because what is looked for in it (placeholders, tags)
cares for places and not for blanks.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence as Lines

from loop_ls.syntax.incremental.alias_lines import AliasLines
from loop_ls.syntax.nodes import Scalar, Style
from loop_ls.syntax.yaml.escapes import ESCAPE, escaped
from loop_ls.text.pattern import pattern
from loop_ls.text.position import Position, Span

#: a quote inside single quotes
_TWICE = pattern("''")


class ScalarSourceMap:
    """`text`, and where each of its offsets stands in the lines that the scalar was read from."""

    __slots__ = ("_column", "_line", "_offsets", "_rows", "_sources", "text")

    def __init__(self, lines: Lines[str], scalar: Scalar) -> None:
        (line, column), (last, stop) = scalar.span
        further = 0
        if line < 0 and isinstance(lines, AliasLines):
            further, lines = lines.around(line)
            line, last = line - further, last - further
        if scalar.style.block and last > line:
            line, column = line + 1, 0  # the header is no text
        if line == last:
            source = lines[line][column:stop]
        else:
            source = "\n".join([lines[line][column:], *lines[line + 1 : last], lines[last][:stop]])
        self._line, self._column = line + further, column
        self._rows: list[int] | None = None
        self._offsets: list[int] | None = None
        self._sources: list[int] = []
        if scalar.style is Style.DOUBLE and "\\" in source:
            self._rows = self._starts(source)
            source = self._resolve(source, ESCAPE)
        elif scalar.style is Style.SINGLE and "''" in source:
            self._rows = self._starts(source)
            source = self._resolve(source, _TWICE)
        self.text = source

    def __eq__(self, other: object) -> bool:
        """The same text at the same places: what a rule was told of it need not be told again."""
        return isinstance(other, ScalarSourceMap) and self._made_of() == other._made_of()

    def __hash__(self) -> int:
        return hash((self._line, self._column, self.text))

    def _made_of(self) -> tuple[int, int, str, list[int] | None, list[int]]:
        return self._line, self._column, self.text, self._offsets, self._sources

    def _resolve(self, source: str, escape: re.Pattern[str]) -> str:
        """`source` without its escapes; notes where the two drift apart. Its own quotes are none."""
        parts: list[str] = []
        offsets, sources = [0], [0]
        length = behind = 0
        for found in escape.finditer(source, 1, len(source) - 1):
            meaning = "'" if escape is _TWICE else _meaning(found[0])
            literal = source[behind : found.start()]
            parts += (literal, meaning)
            length += len(literal)
            offsets += (length, length + len(meaning))
            sources += (found.start(), found.end())
            length += len(meaning)
            behind = found.end()
        parts.append(source[behind:])
        self._offsets, self._sources = offsets, sources
        return "".join(parts)

    def _starts(self, source: str) -> list[int]:
        """Where each line of `source` begins; the first one began in front of it."""
        rows, at = [-self._column], source.find("\n")
        while at >= 0:
            rows.append(at + 1)
            at = source.find("\n", at + 1)
        return rows

    def place(self, offset: int) -> Position:
        if self._rows is None:
            self._rows = self._starts(self.text)
        if self._offsets is not None:
            part = bisect_right(self._offsets, offset) - 1
            offset = self._sources[part] + offset - self._offsets[part]
        row = bisect_right(self._rows, offset) - 1
        return Position(self._line + row, offset - self._rows[row])

    def span(self, start: int, end: int) -> Span:
        return Span(self.place(start), self.place(end))


def _meaning(escape: str) -> str:
    """A backslash at the end of a line joins it with the next one."""
    return "" if escape == "\\\n" else escaped(escape)
