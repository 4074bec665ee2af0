"""Formatting that is provably harmless: blanks at line ends, between entries, and empty lines.

Only lines outside of texts are touched. The result is read again and compared: unless every value, every
key, every style and every comment is the same as before, nothing is changed (UP-21). A file that cannot be
read is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from loop_ls.features.lookup.pieces import with_starts
from loop_ls.index.document import Document
from loop_ls.rules.engine.finding import TextEdit
from loop_ls.syntax.nodes import Alias, Mapping, Node, Scalar, Sequence
from loop_ls.syntax.tree import Tree, read_yaml
from loop_ls.text.lines import Text
from loop_ls.text.position import Position, Span

#: Empty lines in a row that are kept.
_EMPTY_LINES = 1

_COMMENT = re.compile(r"(?:^|[ \t])(#.*)")


class _Gap(NamedTuple):
    """Columns of a line between two nodes, and what should stand there."""

    start: int
    end: int
    wanted: str


def formatting(document: Document) -> tuple[TextEdit, ...]:
    """Edits line by line; none where the file is tidy, broken, or would not be the same afterwards."""
    if document.format is None or not _sound(document.tree):
        return ()
    edits = list(_edits(document))
    if not edits:
        return ()
    text = document.text
    for edit in reversed(edits):
        text = text.edit(edit.span, edit.text)
    return tuple(edits) if _same(document.tree, read_yaml(Text.of(str(text)))) else ()


def _sound(tree: Tree) -> bool:
    return not tree.faults and not any(piece.tolerant or piece.faults for piece in tree.pieces)


# -- what is changed -------------------------------------------------------------------------------


def _edits(document: Document) -> Iterator[TextEdit]:
    lines = document.text.lines
    protected, gaps = _protected(document)
    empty = 0
    last = len(lines) - 1
    while last >= 0 and last not in protected and not lines[last].strip():
        last -= 1
    number = 0
    while number <= last:
        line = lines[number]
        if number in protected:
            empty = 0
        elif not line.strip():
            empty += 1
            if empty > _EMPTY_LINES:
                yield TextEdit(Span(Position(number, 0), Position(number + 1, 0)), "")
            elif line:
                yield _replace(number, 0, len(line), "")
        else:
            empty = 0
            yield from _line(number, line, gaps.get(number, []))
        number += 1
    yield from _end(document, last, protected)


def _line(number: int, line: str, gaps: list[_Gap]) -> Iterator[TextEdit]:
    for start, end, wanted in sorted(set(gaps)):
        if line[start:end] != wanted:
            yield _replace(number, start, end, wanted)
    tidy = len(line.rstrip(" \t"))
    if tidy < len(line):
        yield _replace(number, tidy, len(line), "")


def _end(document: Document, last: int, protected: set[int]) -> Iterator[TextEdit]:
    """One line break at the end of the file."""
    lines = document.text.lines
    if last < 0 or last in protected:
        return
    end = Position(len(lines) - 1, len(lines[-1]))
    if last == len(lines) - 1:
        if lines[last]:
            yield TextEdit(Span(end, end), document.text.eol)
    elif last < len(lines) - 2 or lines[-1]:
        yield TextEdit(Span(Position(last + 1, 0), end), "")


def _replace(line: int, start: int, end: int, text: str) -> TextEdit:
    return TextEdit(Span(Position(line, start), Position(line, end)), text)


# -- what is left alone ----------------------------------------------------------------------------


def _protected(document: Document) -> tuple[set[int], dict[int, list[_Gap]]]:
    """Lines that belong to texts of several lines, and the gaps between entries on the others."""
    protected: set[int] = set()
    gaps: dict[int, list[_Gap]] = {}
    for start, piece, _ in with_starts(document):
        if piece.key is not None:
            _colon(gaps, document, start, piece.key, piece.node)
        for node in _nodes(piece.node):
            match node:
                case Scalar():
                    protected.update(_lines_of(document, start, node))
                case Mapping():
                    for entry in node.entries:
                        if not entry.merged:
                            _colon(gaps, document, start, entry.key, entry.value)
                    if node.flow:
                        own = [entry for entry in node.entries if not entry.merged]
                        _commas(gaps, document, start, [(one.key, one.value or one.key) for one in own])
                case Sequence() if node.flow:
                    _commas(gaps, document, start, [(one, one) for one in node.items if one is not None])
                case _:
                    pass
    return protected, gaps


def _lines_of(document: Document, start: int, scalar: Scalar) -> Iterator[int]:
    """The lines of a text of several lines; the header of a block text is an ordinary line."""
    first, last = scalar.span.start.line + start, scalar.span.end.line + start
    if last == first:
        return
    if not scalar.style.block:
        yield from range(first, last + 1)
        return
    if scalar.span.end.column == 0 and last > first + 1:
        last -= 1
    yield from range(first + 1, last + 1)
    lines = document.text.lines
    while last + 1 < len(lines) and not lines[last + 1].strip():  # may belong to it (`|+`)
        last += 1
        yield last


def _colon(gaps: dict[int, list[_Gap]], document: Document, start: int, key: Scalar, value: Node | None) -> None:
    """Between a colon and a value on the same line; anchors and tags in between are left alone."""
    if value is None or value.span.start.line != key.span.end.line:
        return
    line = key.span.end.line + start
    text = document.text.lines[line]
    colon = text.find(":", key.span.end.column)
    if 0 <= colon < value.span.start.column and not text[colon + 1 : value.span.start.column].strip(" "):
        gaps.setdefault(line, []).append(_Gap(colon + 1, value.span.start.column, " "))


def _commas(gaps: dict[int, list[_Gap]], document: Document, start: int, parts: list[tuple[Node, Node]]) -> None:
    """Between the end of one part of a flow collection and the start of the next on the same line."""
    for (_, before), (after, _) in pairwise(parts):
        (line, end), (next_line, begin) = before.span.end, after.span.start
        if line == next_line and document.text.lines[line + start][end:begin].strip(" ") == ",":
            gaps.setdefault(line + start, []).append(_Gap(end, begin, ", "))


def _nodes(node: Node | None, depth: int = 60) -> Iterator[Node]:
    if node is None or depth == 0:
        return
    yield node
    match node:
        case Mapping():
            for entry in node.entries:
                if not entry.merged:
                    yield entry.key
                    yield from _nodes(entry.value, depth - 1)
        case Sequence():
            for item in node.items:
                yield from _nodes(item, depth - 1)
        case _:
            return


# -- the proof -------------------------------------------------------------------------------------


def _same(before: Tree, after: Tree) -> bool:
    if not _sound(after) or _comments(before.text) != _comments(after.text):
        return False
    old, new = ([(p.section, p.kind) for p in tree.pieces if p.kind != "tail"] for tree in (before, after))
    if old != new:
        return False
    return all(
        _equal(a.key, b.key) and _equal(a.node, b.node) for a, b in zip(before.pieces, after.pieces, strict=False)
    )


def _comments(text: Text) -> list[str]:
    """Everything behind a `#` that may begin a comment."""
    return [match[1].rstrip() for line in text.lines if "#" in line and (match := _COMMENT.search(line))]


def _equal(a: Node | None, b: Node | None, depth: int = 0) -> bool:
    match a, b:
        case (None, None):
            return True
        case (Scalar(), Scalar()):
            return (a.text, a.style, a.anchor, a.tag) == (b.text, b.style, b.anchor, b.tag)
        case (Alias(), Alias()):
            return a.name == b.name
        case (Mapping(), Mapping()):
            same = (len(a.entries), a.flow, a.anchor, a.tag) == (len(b.entries), b.flow, b.anchor, b.tag)
            return same and all(
                _equal(x.key, y.key) and x.merged == y.merged and _equal(x.value, y.value, depth + 1)
                for x, y in zip(a.entries, b.entries, strict=True)
            )
        case (Sequence(), Sequence()):
            same = (len(a.items), a.flow, a.anchor, a.tag) == (len(b.items), b.flow, b.anchor, b.tag)
            return same and all(_equal(x, y, depth + 1) for x, y in zip(a.items, b.items, strict=True))
        case _:
            return False
