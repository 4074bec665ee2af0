"""The answer of this package: a spot, with what is written around it.

`Lines` is what has to be read for it: the lines of one piece, and what is open before them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from types import MappingProxyType

from loop_ls.features.spot.block import KEY, Frame, blank, plain_value, unquoted
from loop_ls.syntax.yaml.line_patterns import indent_of
from loop_ls.text.position import Position, Span


class Where(Enum):
    KEY = "key"  # a key of the mapping at `path`
    VALUE = "value"  # the value at `path`, on the line of its key
    ITEM = "item"  # an item of the sequence at `path`
    BELOW = "below"  # the value at `path`, on lines of its own: keys, items with their dash, or text
    TEXT = "text"  # inside a text of several lines at `path`


Path = tuple[str, ...]
Written = Mapping[str, str]
NOTHING: Written = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Spot:
    """`word` (on one line) is what an insertion replaces; `lead` goes before what is inserted.

    `written`: the other entries of the mapping that the spot is in, key to one-line value; `outer`:
    those of the mappings around it, innermost first. `column` is where keys or dashes of the
    collection stand.
    """

    where: Where
    path: Path
    word: Span
    text: str
    column: int
    written: Written = field(default_factory=lambda: NOTHING)
    outer: tuple[Written, ...] = ()
    items: tuple[str, ...] = ()
    flow: bool = False
    colon: bool = False  # KEY: a colon follows
    quote: str = ""  # the quote around the word, or `|` and `>` in block text
    lead: str = ""
    dash: bool = False  # ITEM: its dash has to be inserted, too
    owner: int | None = None  # BELOW: the column of the key above, where `column` is only a guess
    fresh: bool = True  # nothing stands behind the word on its line


@dataclass(frozen=True, slots=True)
class Lines:
    """The lines of a piece are those from `first` to `end` (exclusive); `frames` are open before them."""

    lines: Sequence[str]
    first: int
    end: int
    frames: tuple[Frame, ...]


def written(source: Lines, frame: Frame, line: int) -> Written:
    """All entries of a mapping but the one on `line`: those read so far and those further down."""
    if frame.kind != "mapping":
        return NOTHING
    found = {key: value for key, value in frame.written.items() if frame.lines.get(key) != line}
    for number in range(line + 1, source.end):
        text = source.lines[number]
        if blank(text):
            continue
        column = indent_of(text)
        if column < frame.column or (column == frame.column and text.startswith("- ", column)):
            break
        if column == frame.column and (key := KEY.match(text, column)):
            found.setdefault(unquoted(key["key"]), plain_value(text[key.end() :]))
    return found


def written_below(source: Lines, column: int, line: int) -> tuple[Written, tuple[str, ...]]:
    """Entries and items that stand below `line` at `column` already, in a collection that begins there."""
    keys: dict[str, str] = {}
    items: list[str] = []
    for number in range(line + 1, source.end):
        text = source.lines[number]
        if blank(text):
            continue
        if indent_of(text) < column:
            break
        if indent_of(text) == column and text.startswith("-", column):
            items.append(plain_value(text[column + 1 :]))
        elif indent_of(text) == column and (key := KEY.match(text, column)):
            keys.setdefault(unquoted(key["key"]), plain_value(text[key.end() :]))
    return keys, tuple(item for item in items if item)


def outer(source: Lines, frames: Sequence[Frame], line: int) -> tuple[Written, ...]:
    """The entries of the mappings around the last of `frames`, innermost first."""
    around = [frame for frame in frames[:-1] if frame.kind == "mapping" and frame.path]
    return tuple(written(source, frame, line) for frame in reversed(around))


def other_items(source: Lines, frame: Frame, line: int) -> tuple[str, ...]:
    """The one-line items of a sequence besides the one on `line`, which is the last that was read."""
    found = list(frame.items[:-1]) if frame.key_line == line else list(frame.items)
    for number in range(line + 1, source.end):
        text = source.lines[number]
        if blank(text):
            continue
        column = indent_of(text)
        if column < frame.column or (column == frame.column and not text.startswith("-", column)):
            break
        if column == frame.column:
            found.append(plain_value(text[column + 1 :]))
    return tuple(item for item in found if item)


def empty(at: Position) -> Span:
    return Span(at, at)
