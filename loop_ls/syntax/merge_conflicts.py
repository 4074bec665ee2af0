"""Unresolved merge conflicts: the marker lines that git leaves, read as blank lines, and what they belong to.

Every marker stands at the left margin, where no line of a file of ours looks like one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from loop_ls.text.fault import Fault
from loop_ls.text.lines import Text
from loop_ls.text.position import Position, Span

CODE = "merge-conflict"
_CURRENT, _BASE, _MIDDLE, _INCOMING = "<<<<<<<", "|||||||", "=======", ">>>>>>>"
MARKS = frozenset({_CURRENT, _BASE, _MIDDLE, _INCOMING})
_BEGINNINGS = tuple(f"\n{mark}" for mark in sorted(MARKS))


class Conflict(NamedTuple):
    """The numbers of its marker lines, from `<<<<<<<` to `>>>>>>>`. A marker that belongs to none is one of its own,
    with `middle` None."""

    first: int
    last: int
    base: int | None = None
    middle: int | None = None

    def holds(self, line: int) -> bool:
        return self.first <= line <= self.last

    def current(self) -> tuple[int, int]:
        """The lines of the side that was here, without their markers: from one line up to another."""
        end = self.middle if self.base is None else self.base
        return self.first + 1, self.last if end is None else end

    def incoming(self) -> tuple[int, int]:
        return (self.last if self.middle is None else self.middle) + 1, self.last


def is_marker(line: str) -> bool:
    return line[:7] in MARKS and line[7:8] in ("", " ")


def without_markers(lines: tuple[str, ...]) -> tuple[str, ...]:
    """The lines with blank ones for markers, so that every place stays where it is; the same object without any."""
    if not any(line[:7] in MARKS for line in lines):
        return lines
    return tuple("" if is_marker(line) else line for line in lines)


def find_conflicts(text: Text) -> tuple[Conflict, ...]:
    """All conflicts of a text, in order. Costs a look at what was remembered of its blocks where there is none."""
    if not text.mentions(*_BEGINNINGS):
        return ()
    return tuple(sorted(_conflicts(text.lines)))


def _conflicts(lines: Sequence[str]) -> Iterator[Conflict]:
    opened: dict[str, int] = {}
    for number, line in enumerate(lines):
        if not is_marker(line):
            continue
        mark = line[:7]
        match mark:
            case "<<<<<<<":
                yield from _strays(opened)
                opened = {mark: number}
            case ">>>>>>>" if _MIDDLE in opened:
                yield Conflict(opened[_CURRENT], number, opened.get(_BASE), opened[_MIDDLE])
                opened = {}
            case "=======" | "|||||||" if _CURRENT in opened and _MIDDLE not in opened and mark not in opened:
                opened[mark] = number
            case _:
                yield Conflict(number, number)
    yield from _strays(opened)


def _strays(opened: dict[str, int]) -> Iterator[Conflict]:
    return (Conflict(number, number) for number in opened.values())


def conflict_fault(text: Text, conflict: Conflict) -> Fault:
    first, last = text.line(conflict.first), text.line(conflict.last)
    span = Span(Position(conflict.first, 0), Position(conflict.last, len(last)))
    if conflict.middle is None:
        return Fault(span, f"`{first[:7]}` is left over from a merge conflict; remove this line.", CODE)
    names = [f" (`{name}`)" if (name := line[8:].strip()) else "" for line in (first, last)]
    sentence = (
        f"Unresolved merge conflict: keep the current text{names[0]}, the incoming text{names[1]} or both, "
        "and remove the marker lines."
    )
    return Fault(span, sentence, CODE)
