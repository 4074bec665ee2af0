"""Places in a text, as everything inside the product counts them.

Lines and columns start at 0 and columns count code points; only `text.encoding` knows what an
editor counts. Places are plain tuples because a file of 50,000 lines has a hundred thousand of them.
"""

from __future__ import annotations

from typing import NamedTuple


class Position(NamedTuple):
    """A gap between two characters: line and column, both from 0, columns in code points."""

    line: int
    column: int


class Span(NamedTuple):
    """A stretch of text, `end` exclusive."""

    start: Position
    end: Position

    def shift(self, lines: int) -> Span:
        """The same stretch `lines` further down."""
        if lines == 0:
            return self
        (a, b), (c, d) = self
        return Span(Position(a + lines, b), Position(c + lines, d))

    def contains(self, at: Position) -> bool:
        """Whether `at` lies inside or at either end."""
        return self.start <= at <= self.end

    def covers(self, other: Span) -> bool:
        """Whether the whole of another stretch lies inside."""
        return self.start <= other.start and other.end <= self.end

    @property
    def empty(self) -> bool:
        return self.start == self.end


def span(line: int, column: int, end_line: int, end_column: int) -> Span:
    return Span(Position(line, column), Position(end_line, end_column))
