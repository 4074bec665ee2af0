"""One line of a large chunk changed: reads the entry or item around it and keeps all others.

Without this a keystroke in a mapping of 5,000 constants would read 5,000 constants. Wherever there
is any doubt the answer is None, and the chunk is read as every other.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import replace
from typing import NamedTuple

from loop_ls.syntax.incremental.piece import Chunk
from loop_ls.syntax.incremental.split import NO_ITEMS
from loop_ls.syntax.nodes import Alias, Entry, Mapping, Node, Scalar, Sequence
from loop_ls.syntax.yaml.compose import compose
from loop_ls.syntax.yaml.line_patterns import ODD_INDENT
from loop_ls.syntax.yaml.refusal import Rejected
from loop_ls.text.position import Position, Span

#: Collections of fewer lines are not worth the look.
LEAST = 60


class _Step(NamedTuple):
    """A block collection, and which of its parts has the line: the lines from `first` to `end`."""

    node: Mapping | Sequence
    part: int
    first: int
    end: int


def spliced(chunk: Chunk, line: int, text: str) -> Chunk | None:
    """The chunk with `line` (counted from its first one) replaced by `text`."""
    if len(chunk.lines) < LEAST or line == 0 or chunk.flagged or len(chunk.pieces) != 1:
        return None
    if not (_is_inner(text, chunk) and _is_inner(chunk.lines[line], chunk)):
        return None
    piece = chunk.pieces[0]
    path = _path(piece.node, chunk.lines, line)
    if not path:
        return None
    lines = (*chunk.lines[:line], text, *chunk.lines[line + 1 :])
    node = _reread(path[-1], lines, chunk.follower != "end")
    if node is None:
        return None
    root = _rebuilt(path, node)
    fresh = replace(piece, node=root, lines=lines)
    return replace(chunk, lines=lines, pieces=(fresh,))


def _is_inner(line: str, chunk: Chunk) -> bool:
    """Whether the line can neither begin a unit nor be anything but content."""
    if line[:1] != " " or line.lstrip(" ")[:1] in ("", "#", "\t") or (not line.isascii() and ODD_INDENT.match(line)):
        return False
    dash = chunk.after.dash
    return dash == NO_ITEMS or "-" not in line[: dash + 1]


def _path(node: Node | None, lines: tuple[str, ...], line: int) -> list[_Step]:
    """From the root of the piece to the innermost large collection with the line."""
    path: list[_Step] = []
    end = len(lines)
    while isinstance(node, Mapping | Sequence) and not node.flow and end - node.span.start.line >= LEAST:
        starts = _starts(node)
        part = bisect_right(starts, line) - 1
        if part < 0:
            break
        first = starts[part]
        end = starts[part + 1] if part + 1 < len(starts) else end
        following = [end] if part + 1 < len(starts) else []
        if not all(_begins_line(lines[number], node) for number in (first, *following)):
            break
        path.append(_Step(node, part, first, end))
        below = node.entries[part].value if isinstance(node, Mapping) else node.items[part]
        node = below
    return path


def _starts(node: Mapping | Sequence) -> list[int]:
    """The first line of each part; empty where that is not plain to see."""
    if isinstance(node, Mapping):
        return [] if node.merges else [entry.key.span.start.line for entry in node.entries]
    starts = [item.span.start.line for item in node.items if item is not None]
    return starts if len(starts) == len(node.items) else []


def _begins_line(line: str, node: Mapping | Sequence) -> bool:
    """Whether a part of the collection begins with this line."""
    column = node.span.start.column
    if line[:column].strip(" "):
        return False
    return isinstance(node, Mapping) or line[column : column + 1] == "-"


def _reread(step: _Step, lines: tuple[str, ...], more: bool) -> tuple[Entry | Node, Position] | None:
    """The part of a step read anew, and where it ends."""
    try:
        composed = compose(lines[step.first : step.end], more=step.end < len(lines) or more)
    except Rejected:
        return None
    root = composed.node
    if composed.anchors or composed.missing or composed.faults or root is None:
        return None
    if root.span.start != (0, step.node.span.start.column):
        return None
    end = Position(root.span.end.line + step.first, root.span.end.column)
    match root:
        case Mapping(flow=False, merges=(), entries=(entry,)) if isinstance(step.node, Mapping):
            return _shifted_entry(entry, step.first), end
        case Sequence(flow=False, items=(item,)) if isinstance(step.node, Sequence) and item is not None:
            return shifted(item, step.first), end
        case _:
            return None


def _rebuilt(path: list[_Step], read: tuple[Entry | Node, Position]) -> Node:
    """The root with the part in place. A collection ends with its last part."""
    part, end = read
    for step in reversed(path):
        node = step.node
        parts: list[Entry | Node | None] = list(node.entries if isinstance(node, Mapping) else node.items)
        if isinstance(node, Mapping) and not isinstance(part, Entry):
            part = Entry(node.entries[step.part].key, part)
        parts[step.part] = part
        if step.part + 1 < len(parts):
            end = node.span.end
        span = Span(node.span.start, end)
        if isinstance(node, Mapping):
            part = Mapping(span, tuple(p for p in parts if isinstance(p, Entry)), False, None, node.tag)
        else:
            part = Sequence(span, tuple(p for p in parts if not isinstance(p, Entry)), False, None, node.tag)
    assert not isinstance(part, Entry)
    return part


def shifted(node: Node, lines: int) -> Node:
    """The node so many lines further down."""
    span = node.span.shift(lines)
    match node:
        case Scalar():
            return Scalar(span, node.text, node.style, node.anchor, node.tag)
        case Alias():
            return Alias(span, node.name, node.target)
        case Mapping():
            entries = tuple(_shifted_entry(entry, lines) for entry in node.entries)
            return Mapping(span, entries, node.flow, node.anchor, node.tag)
        case Sequence():
            items = tuple(shifted(item, lines) if item is not None else None for item in node.items)
            return Sequence(span, items, node.flow, node.anchor, node.tag)


def _shifted_entry(entry: Entry, lines: int) -> Entry:
    key = entry.key
    moved = Scalar(key.span.shift(lines), key.text, key.style, key.anchor, key.tag)
    return Entry(moved, shifted(entry.value, lines) if entry.value is not None else None)
