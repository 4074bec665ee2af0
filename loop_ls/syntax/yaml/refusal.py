"""Why libyaml does not take a text, and where."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence as Lines
from itertools import accumulate
from typing import Any

from loop_ls.text.position import Position


class Rejected(Exception):
    """libyaml (or the limit of depth) refuses the text at `at`; `ended`: because it ends there."""

    def __init__(self, problem: str, at: Position, ended: bool = False) -> None:
        super().__init__(problem)
        self.problem, self.at, self.ended = problem, at, ended


def rejected(error: Exception, lines: Lines[str], text: str) -> Rejected:
    """The refusal behind an error of libyaml for `text`, which are these lines joined."""
    if isinstance(error, UnicodeEncodeError):
        return Rejected("half of a surrogate pair", offset_position(offsets(lines), error.start))
    sign: Any = getattr(error, "character", None)  # what yaml's ReaderError has
    if sign is not None:
        place = max(0, text.find(chr(sign))) if isinstance(sign, int) else 0
        return Rejected("control character", offset_position(offsets(lines), place))
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    problem = str(getattr(error, "problem", None) or error)
    if mark is None:
        return Rejected(problem, Position(0, 0))
    at = offset_position(offsets(lines), min(mark.index, len(text)))
    return Rejected(problem, at, mark.index >= len(text.rstrip()))


def offsets(lines: Lines[str]) -> list[int]:
    """Where each line starts in the joined text."""
    return list(accumulate((len(line) + 1 for line in lines), initial=0))[:-1]


def offset_position(starts: list[int], index: int) -> Position:
    line = max(0, bisect_right(starts, index) - 1)
    return Position(line, index - starts[line])
