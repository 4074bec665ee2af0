"""A key typed inside a text of a JSON file: the text is read anew, and everything around it is kept.

A text stands on one line, and a file without faults has no comments. So a line that holds one text, with or without
its key in front, means the same wherever the edit leaves the rest of it alone. In any doubt the answer is None, and the
file is read as a whole.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import replace

from loop_ls.syntax.incremental.piece import Chunk
from loop_ls.syntax.json.text import text_of
from loop_ls.syntax.nodes import Entry, Mapping, Node, Scalar, Sequence, Style
from loop_ls.text.pattern import pattern
from loop_ls.text.position import Position, Span

_LINE = pattern(r'([ \t]*(?:"(?:[^"\\\n]|\\[^\n])*"[ \t]*:[ \t]*)?)"((?:[^"\\\n]|\\[^\n])*)"([ \t]*,?[ \t]*)')


def with_text(chunk: Chunk, line: int, new: str) -> Chunk | None:
    """The chunk of a whole file with another text in a line."""
    before, after = _LINE.fullmatch(chunk.lines[line]), _LINE.fullmatch(new)
    if before is None or after is None or before.group(1, 3) != after.group(1, 3):
        return None
    text, problem = text_of(after[2])
    if problem or any(piece.faults for piece in chunk.pieces):
        return None
    at = Position(line, after.start(2) - 1)
    fresh = Scalar(Span(at, Position(line, after.end(2) + 1)), text, Style.DOUBLE)
    nodes = [_with(piece.node, fresh) for piece in chunk.pieces]
    if sum(node is not piece.node for node, piece in zip(nodes, chunk.pieces, strict=True)) != 1:
        return None
    lines = (*chunk.lines[:line], new, *chunk.lines[line + 1 :])
    pieces = [replace(piece, node=node, lines=lines) for node, piece in zip(nodes, chunk.pieces, strict=True)]
    return replace(chunk, lines=lines, pieces=tuple(pieces))


def _with(node: Node | None, fresh: Scalar) -> Node | None:
    """The node with a text in place of the one that stands there; the node itself where there is none."""
    at = fresh.span.start
    match node:
        case Scalar() if node.span.start == at and node.style is Style.DOUBLE:
            return fresh
        case Mapping(merges=()) if node.span.start < at < node.span.end:
            found = bisect_right(node.entries, at, key=lambda entry: entry.key.span.start) - 1
            value = _with(node.entries[found].value, fresh) if found >= 0 else None
            if value is None or value is node.entries[found].value:
                return node
            entry = Entry(node.entries[found].key, value)
            return replace(node, entries=(*node.entries[:found], entry, *node.entries[found + 1 :]))
        case Sequence() if node.span.start < at < node.span.end and None not in node.items:
            found = bisect_right(node.items, at, key=_start) - 1
            item = _with(node.items[found], fresh) if found >= 0 else None
            if item is None or item is node.items[found]:
                return node
            return replace(node, items=(*node.items[:found], item, *node.items[found + 1 :]))
        case _:
            return node


def _start(node: Node | None) -> Position:
    assert node is not None, "an array without faults has no gaps"
    return node.span.start
