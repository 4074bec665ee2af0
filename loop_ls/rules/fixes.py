"""The changes that rules propose. Each is computed against the document as it is when it is wanted.

A fix whose piece is gone by then changes nothing. Layout is left to `syntax.edits`, which keeps
style and comments.
"""

from __future__ import annotations

from collections.abc import Callable

from loop_ls.formats.block import Block
from loop_ls.index.document import Document
from loop_ls.index.element import Element
from loop_ls.rules.finding import Fix, TextEdit, Tier
from loop_ls.syntax.nodes import Entry, Scalar
from loop_ls.syntax.piece import Piece
from loop_ls.text.position import Position, Span

Edits = Callable[[Document], tuple[TextEdit, ...]]


def replace(piece: Piece, span: Span, text: str, title: str, tier: Tier = Tier.SAFE) -> Fix:
    return Fix(title, _replacing(piece, span, text), tier, tier is Tier.SAFE)


def reword(piece: Piece, span: Span, new: str) -> Fix:
    """Another word for the same place, in the quotes that are there; an alias is left alone."""

    def edits(document: Document) -> tuple[TextEdit, ...]:
        place = absolute(document, piece, span)
        if place is None:
            return ()
        first = document.text.slice(place)[:1]
        if first == "*":
            return ()
        mark = first if first in ("'", '"') else ""
        return (TextEdit(place, f"{mark}{new}{mark}"),)

    return Fix(f"Change to `{new}`", edits, Tier.SAFE, True)


def quote(piece: Piece, span: Span) -> Fix:
    """Double quotes around a value that YAML would take for something else."""

    def edits(document: Document) -> tuple[TextEdit, ...]:
        place = absolute(document, piece, span)
        if place is None:
            return ()
        written = document.text.slice(place).replace("\\", "\\\\").replace('"', '\\"')
        return (TextEdit(place, f'"{written}"'),)

    return Fix("Put quotes around it", edits, Tier.SAFE, True)


def bracket(piece: Piece, span: Span) -> Fix:
    return wrap(piece, span, "[", "]", "Write it as a list")


def wrap(piece: Piece, span: Span, before: str, after: str, title: str) -> Fix:
    def edits(document: Document) -> tuple[TextEdit, ...]:
        place = absolute(document, piece, span)
        if place is None:
            return ()
        start, end = place
        return TextEdit(Span(start, start), before), TextEdit(Span(end, end), after)

    return Fix(title, edits, Tier.SAFE, True)


def absolute(document: Document, piece: Piece, span: Span) -> Span | None:
    try:
        return document.absolute(piece, span)
    except LookupError:
        return None


def _replacing(piece: Piece, span: Span, text: str) -> Edits:
    def edits(document: Document) -> tuple[TextEdit, ...]:
        place = absolute(document, piece, span)
        return () if place is None else (TextEdit(place, text),)

    return edits


def merge_section(later: Piece, first: Piece, name: str) -> Fix:
    """Move the entries of a repeated `steps` or `loops` block behind those of the first one."""

    def edits(document: Document) -> tuple[TextEdit, ...]:
        from loop_ls.rules.merging import merged

        return merged(document, first, later)

    return Fix(f"Move these entries into the first `{name}`", edits, Tier.SAFE, True)


def insert_key(piece: Piece, block: Block, key: str, value: str, title: str, tier: Tier = Tier.SAFE) -> Fix:
    return Fix(title, lambda document: (), tier, tier is Tier.SAFE)


def remove_key(piece: Piece, block: Block, entry: Entry, tier: Tier = Tier.SAFE) -> Fix:
    return Fix(f"Remove `{entry.key.text}`", lambda document: (), tier)


def add_need(element: Element, name: str) -> Fix:
    return Fix(f"Add `{name}` to `needs`", lambda document: (), Tier.SAFE, True)


def add_schema(schema: str) -> Fix:
    def edits(document: Document) -> tuple[TextEdit, ...]:
        return (TextEdit(Span(Position(0, 0), Position(0, 0)), f"$schema: {schema}\n"),)

    return Fix(f"Add `$schema: {schema}`", edits, Tier.REVIEW)


def condition_without(piece: Piece, scalar: Scalar, span: Span, name: str) -> Fix:
    return Fix(f"Write it without `{{{{{name}}}}}`", lambda document: (), Tier.REVIEW)
