"""Selection ranges: word, island, text, entry, element, section, file; each inside the next."""

from __future__ import annotations

import re
from collections.abc import Iterator

from loop_ls.features.lookup.pieces import pieces_at
from loop_ls.features.rename.occurrences import bare
from loop_ls.index.document import Document
from loop_ls.syntax.nodes import Alias, Mapping, Node, Scalar, Sequence
from loop_ls.syntax.placeholders import islands
from loop_ls.text.position import Position, Span

_WORD = re.compile(r"[\w-]+")
_DOTTED = re.compile(r"[\w.-]+")


def selection(document: Document, at: Position) -> tuple[Span, ...]:
    """The stretches around a place, smallest first; the whole file is always there."""
    whole = Span(Position(0, 0), document.text.end)
    found = [*_words(document, at), *_nodes(document, at), *_section(document, at), whole]
    found.sort(key=lambda span: (span.start, (-span.end.line, -span.end.column)), reverse=True)
    chain: list[Span] = []
    for span in found:
        if not span.contains(at) or (chain and not span.covers(chain[-1])):
            continue
        if not chain or span != chain[-1]:
            chain.append(span)
    return tuple(chain)


def _words(document: Document, at: Position) -> Iterator[Span]:
    if not 0 <= at.line < len(document.text.lines):
        return
    line = document.text.lines[at.line]
    for pattern in (_WORD, _DOTTED):
        for match in pattern.finditer(line):
            if match.start() <= at.column <= match.end():
                yield Span(Position(at.line, match.start()), Position(at.line, match.end()))
    text = line.strip()
    if text:
        begin = len(line) - len(line.lstrip())
        yield Span(Position(at.line, begin), Position(at.line, begin + len(text)))


def _nodes(document: Document, at: Position) -> Iterator[Span]:
    start, pieces = pieces_at(document, at.line)
    inner = Position(at.line - start, at.column)
    for piece in pieces:
        if piece.key is not None:
            end = piece.key.span.end if piece.node is None else max(piece.key.span.end, piece.node.span.end)
            yield Span(piece.key.span.start, end).shift(start)
            yield piece.key.span.shift(start)
        for span in _around(document, piece.lines, piece.node, inner, 0):
            yield span.shift(start)
            yield bare(document, span.shift(start))


def _around(document: Document, lines: tuple[str, ...], node: Node | None, at: Position, depth: int) -> Iterator[Span]:
    if node is None or depth > 60 or not node.span.contains(at):
        return
    yield node.span
    match node:
        case Mapping():
            for entry in node.entries:
                if entry.merged:
                    continue
                end = entry.key.span.end if entry.value is None else max(entry.key.span.end, entry.value.span.end)
                if Span(entry.key.span.start, end).contains(at):
                    yield Span(entry.key.span.start, end)
                    yield entry.key.span
                    yield from _around(document, lines, entry.value, at, depth + 1)
        case Sequence():
            for item in node.items:
                yield from _around(document, lines, item, at, depth + 1)
        case Scalar():
            for island in islands(lines, node):
                yield island.span
                yield island.inner
        case Alias():
            return


def _section(document: Document, at: Position) -> Iterator[Span]:
    """The whole block of `steps` or `loops` that the place is in."""
    pieces, start_of = document.tree.pieces, document.tree.start_of
    _, here = pieces_at(document, at.line)
    if not here or here[0].section is None or here[0].kind not in ("item", "head"):
        return
    index = first = pieces.index(here[0])
    while first > 0 and pieces[first].kind == "item":
        first -= 1
    last = index
    while last + 1 < len(pieces) and pieces[last + 1].kind == "item":
        last += 1
    key, node = pieces[first].key, pieces[last].node
    if key is not None and node is not None:
        yield Span(key.span.shift(start_of(pieces[first])).start, node.span.shift(start_of(pieces[last])).end)
