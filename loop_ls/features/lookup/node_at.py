"""What stands at a place: variable, name, reference, alias, key or value, with its surroundings.

For features that ask about text which is there (hover, definition, references, rename); completion looks
at lines instead. Everything but `start` is relative to the piece: `place` makes it absolute.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from loop_ls.features.lookup.bare_braces import use_in_bare_braces
from loop_ls.features.lookup.pieces import pieces_at
from loop_ls.formats.common.typed_mapping import Block, Field, Pair
from loop_ls.index.document import Document
from loop_ls.index.element import Element, Need, Use
from loop_ls.index.top_level import Top
from loop_ls.syntax.nodes import Alias, Mapping, Node, Scalar, Sequence
from loop_ls.text.position import Position, Span

if TYPE_CHECKING:
    from loop_ls.syntax.tree import Piece


@dataclass(frozen=True, slots=True)
class NodeAt:
    """Of what is at the place, innermost first: `use` or `need`, `alias`, `pair` (an entry of `with` or
    `env`), `field`. `on_key` tells whether the cursor is on a key."""

    document: Document
    piece: Piece
    start: int
    span: Span
    element: Element | None = None
    top: Top | None = None
    block: Block | None = None
    field: Field | None = None
    pair: Pair | None = None
    use: Use | None = None
    need: Need | None = None
    alias: Alias | None = None
    on_key: bool = False

    @property
    def place(self) -> Span:
        return self.span.shift(self.start)

    @property
    def on_reference(self) -> bool:
        """Whether it is the name of a called workflow."""
        key = self.field.key if self.field is not None else None
        return key is not None and key.offers == "workflows" and not self.on_key

    @property
    def on_name(self) -> bool:
        """Whether it is the name that defines an element or the workflow."""
        return self.field is not None and self.field.key.name == "name" and not self.on_key and not self.on_reference

    @property
    def on_accumulate(self) -> bool:
        return self.field is not None and self.field.key.name == "accumulate" and not self.on_key


def look_at(document: Document, at: Position) -> NodeAt | None:
    """None where nothing of ours stands: blanks, comments, other formats."""
    if not document.is_workflow:
        return None
    start, pieces = pieces_at(document, at.line)
    inner = Position(at.line - start, at.column)
    for piece in pieces:
        facts = document.facts_of(piece)
        for element in facts.elements:
            if element.span.start <= inner <= element.span.end:
                return _in_element(document, piece, start, element, inner)
        if facts.top is not None and (found := _in_top(document, piece, start, facts.top, inner)) is not None:
            return found
    return None


def _in_element(document: Document, piece: Piece, start: int, element: Element, at: Position) -> NodeAt | None:
    for use in element.uses:
        if use.span.contains(at):
            found = _in_block(element.block, at)
            field, block = (found.field, found.block) if found else (None, None)
            pair = found.pair if found else None
            return NodeAt(document, piece, start, use.name_span, element, None, block, field, pair, use)
    if (bare := use_in_bare_braces(piece.lines, element, at)) is not None:
        return NodeAt(document, piece, start, bare.name_span, element, use=bare)
    for need in element.needs:
        if need.span.contains(at):
            needs = element.block.get("needs")
            return NodeAt(document, piece, start, need.span, element, None, element.block, needs, need=need)
    found = _in_block(element.block, at)
    return None if found is None else _look(document, piece, start, found, element, None)


def _in_top(document: Document, piece: Piece, start: int, top: Top, at: Position) -> NodeAt | None:
    if top.field is None:
        return None
    found = _in_field(None, top.field, at)
    return None if found is None else _look(document, piece, start, found, None, top)


def _look(
    document: Document, piece: Piece, start: int, found: _Found, element: Element | None, top: Top | None
) -> NodeAt:
    return NodeAt(
        document,
        piece,
        start,
        found.span,
        element,
        top,
        found.block,
        found.field,
        found.pair,
        alias=found.alias,
        on_key=found.on_key,
    )


@dataclass(frozen=True, slots=True)
class _Found:
    span: Span
    block: Block | None = None
    field: Field | None = None
    pair: Pair | None = None
    alias: Alias | None = None
    on_key: bool = False


def _in_block(block: Block, at: Position) -> _Found | None:
    for merge in block.node.merges:
        alias = next((one for one in _aliases(merge.value) if one.span.contains(at)), None)
        if alias is not None:
            return _Found(alias.span, block, alias=alias)
    for field in block.fields.values():
        if not field.entry.merged and (found := _in_field(block, field, at)) is not None:
            return found
    return None


def _in_field(block: Block | None, field: Field, at: Position) -> _Found | None:
    key, value = field.entry.key, field.entry.value
    if key.span.contains(at):
        return _Found(key.span, block, field, on_key=True)
    if value is None or not value.span.contains(at):
        return None
    alias = next((one for one in _aliases(value) if one.span.contains(at)), None)
    if alias is not None:
        return _Found(alias.span, block, field, alias=alias)
    inner = _inside(field, at)
    if inner is not None:
        return inner
    return None if isinstance(value, Mapping) else _Found(value.span, block, field)


def _inside(field: Field, at: Position) -> _Found | None:
    """The block or pair of a field that the place is in."""
    value = field.value
    if isinstance(value, Block):
        return _in_block(value, at)
    for one in value if isinstance(value, tuple) else ():
        if isinstance(one, Block) and one.node.span.contains(at):
            return _in_block(one, at)
        if isinstance(one, Pair):
            if one.entry.key.span.contains(at):
                return _Found(one.entry.key.span, None, field, one, on_key=True)
            if one.node is not None and one.node.span.contains(at):
                return _Found(one.node.span, None, field, one)
    return None


def _aliases(node: Node | None, depth: int = 16) -> Iterator[Alias]:
    match node:
        case Alias():
            yield node
        case Sequence() if depth:
            for item in node.items:
                yield from _aliases(item, depth - 1)
        case Mapping() if depth:
            for entry in node.entries:
                if not entry.merged:
                    yield from _aliases(entry.value, depth - 1)
        case _:
            return


def text_span(scalar: Scalar) -> Span:
    """A one-line scalar without its quotes."""
    (line, column), (end_line, end) = scalar.span
    if scalar.style.quoted and line == end_line and end - column >= 2:
        return Span(Position(line, column + 1), Position(line, end - 1))
    return scalar.span
