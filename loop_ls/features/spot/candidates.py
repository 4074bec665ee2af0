"""A blank line, or one that holds only the start of a word: which collection it may continue.

Every open collection is a candidate, as long as the line below still belongs to what it belongs to
now. The column of the cursor chooses among them and is then corrected (UP-20).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from loop_ls.features.spot.block import Frame, blank, child_path
from loop_ls.features.spot.place import NOTHING, Lines, Path, Spot, Where, other_items, outer, written, written_below
from loop_ls.syntax.yaml.line_patterns import indent_of
from loop_ls.text.position import Position, Span

_WORD = re.compile(r"(?:[\w$][\w$./-]*)?")


@dataclass(frozen=True, slots=True)
class _Candidate:
    where: Where
    column: int
    path: Path
    frames: Sequence[Frame]  # up to and including the one that is continued or hung on to
    owner: int | None = None


def candidates(source: Lines, frames: Sequence[Frame], start: Position, at: Position, unit: int) -> tuple[Spot, ...]:
    """`start` is where the word begins (`at` on a blank line); `unit` the indentation of the file."""
    line = source.lines[at.line]
    word = _WORD.match(line, start.column)
    assert word is not None
    if at.column > word.end() or (word.end() == start.column and line[start.column :].strip()):
        return ()
    below = _below(source, at.line)
    open_ = [one for one in _all(frames, start.column, below, unit) if _fits(one, below)]
    if not open_:
        return ()
    ranked = sorted(open_, key=lambda one: (one.column, len(one.frames), one.where is Where.BELOW))
    reached = [one for one in ranked if one.column <= start.column]
    best = reached[-1] if reached else ranked[0]
    chosen = [best] + [one for one in ranked if one is not best and one.column == best.column]
    chosen.sort(key=lambda one: one.where is Where.ITEM)
    if best.where is not Where.BELOW:
        chosen += [one for one in ranked if one.where is Where.BELOW] or _next_sequence(ranked, chosen)
    return tuple(_spot(source, one, start, word.end(), at) for one in chosen)


def _all(frames: Sequence[Frame], column: int, below: tuple[int, bool] | None, unit: int) -> list[_Candidate]:
    found = []
    for index, frame in enumerate(frames):
        where = Where.KEY if frame.kind == "mapping" else Where.ITEM
        found.append(_Candidate(where, frame.column, frame.path, frames[: index + 1]))
    top = frames[-1]
    if top.hangs:
        inner, owner = (column, None) if column > top.column else (top.column + unit, top.column)
        if below and (below[0] > top.column or (below == (top.column, True) and top.kind == "mapping")):
            inner, owner = below[0], None
        found.append(_Candidate(Where.BELOW, inner, child_path(top), frames, owner))
    return found


def _fits(one: _Candidate, below: tuple[int, bool] | None) -> bool:
    """Whether the line below keeps its place when this collection is continued above it."""
    if below is None:
        return True
    column, dash = below
    match one.where:
        case Where.KEY:
            return column < one.column or (column == one.column and not dash)
        case Where.ITEM:
            return column <= one.column
        case _:
            return column <= one.column


def _below(source: Lines, line: int) -> tuple[int, bool] | None:
    """Column of the next line with content, and whether it begins with a dash."""
    for number in range(line + 1, len(source.lines)):
        text = source.lines[number]
        if not blank(text):
            column = indent_of(text)
            return column, text[column : column + 2] in ("-", "- ")
    return None


def _next_sequence(ranked: Sequence[_Candidate], chosen: Sequence[_Candidate]) -> list[_Candidate]:
    """The innermost sequence around, for its whole-element snippets."""
    rest = [one for one in ranked if one.where is Where.ITEM and one not in chosen]
    return rest[-1:]


def _spot(source: Lines, one: _Candidate, start: Position, end: int, at: Position) -> Spot:
    line = source.lines[at.line]
    begin, lead = min(one.column, start.column), " " * (one.column - start.column)
    if "\t" in line[: start.column]:
        begin, lead = 0, " " * one.column
    word = Span(Position(at.line, begin), Position(at.line, end))
    frame = one.frames[-1]
    own = written(source, frame, at.line) if one.where is Where.KEY else NOTHING
    items = other_items(source, frame, at.line) if one.where is Where.ITEM else ()
    if one.where is Where.BELOW:
        own, items = written_below(source, one.column, at.line)
    around = outer(source, [*one.frames, frame] if one.where is not Where.KEY else one.frames, at.line)
    return Spot(
        one.where,
        one.path,
        word,
        line[start.column : end],
        one.column,
        own,
        around,
        items,
        lead=lead,
        dash=one.where is Where.ITEM,
        owner=one.owner,
        fresh=not line[end:].strip(),
    )
