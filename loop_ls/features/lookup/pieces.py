"""Which piece of a document a line belongs to, and where all pieces begin."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from loop_ls.index.document import Document
from loop_ls.index.element import Element
from loop_ls.index.piece_facts import Facts
from loop_ls.text.position import Position, Span

if TYPE_CHECKING:
    from loop_ls.syntax.tree import Piece


def pieces_at(document: Document, line: int) -> tuple[int, tuple[Piece, ...]]:
    """The line that the pieces around `line` count from, and those pieces."""
    start, pieces = document.tree.around(line)
    return start, tuple(pieces)


def element_at(document: Document, line: int) -> Element | None:
    """The step or loop whose item the line belongs to, blank lines behind it included."""
    start, pieces = pieces_at(document, line)
    found: Element | None = None
    for piece in pieces:
        for element in document.facts_of(piece).elements:
            if element.span.start.line <= line - start:
                found = element
    return found


def with_starts(document: Document) -> Iterator[tuple[int, Piece, Facts]]:
    """Every piece with its first line and what was read from it, in order."""
    start, lines = 0, None
    for piece, facts in document.facts():
        if lines is not None and piece.lines is not lines:
            start += len(lines)
        lines = piece.lines
        yield start, piece, facts


def inside(span: Span, at: Position) -> bool:
    return span.start <= at <= span.end
