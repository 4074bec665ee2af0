"""The lines of a chunk whose aliases mean anchors above it: those are further up than its first line."""

from __future__ import annotations

from typing import NamedTuple


class Above(NamedTuple):
    """Lines of another chunk; the first of them is so many lines further down, which are less than none."""

    first: int
    lines: tuple[str, ...]


class AliasLines(tuple[str, ...]):
    """The lines of a chunk, and in `above` those that places behind its aliases are counted in."""

    above: tuple[Above, ...]

    @classmethod
    def of(cls, lines: tuple[str, ...], above: tuple[Above, ...]) -> AliasLines:
        found = cls(lines)
        found.above = above
        return found

    def around(self, line: int) -> Above:
        """The lines of the chunk above that has this line."""
        return next(one for one in self.above if one.first <= line < one.first + len(one.lines))
