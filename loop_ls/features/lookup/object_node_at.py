"""What stands at a place in a file that is no workflow: a key, a value, a placeholder, and what it belongs to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from loop_ls.formats.common.key_table import Shape
from loop_ls.formats.common.object_parts import Item
from loop_ls.formats.common.typed_mapping import Block, Field, Named, Pair, PlacedText
from loop_ls.formats.registry import ROLE_LOOP
from loop_ls.index.document import Document
from loop_ls.index.placeholders import Placeholder, placeholders
from loop_ls.syntax.incremental.piece import Piece
from loop_ls.syntax.nodes import Alias, Mapping, Sequence
from loop_ls.text.position import Position, Span


@dataclass(frozen=True, slots=True)
class ObjectNodeAt:
    """`span` is absolute. `block` is the object that holds the key, None at top level; `item` the entry of
    a list of objects around it. `word` is an entry of a list of texts, `pair` one of a mapping of names."""

    document: Document
    span: Span
    shape: Shape
    field: Field
    on_key: bool
    block: Block | None = None
    item: Item | None = None
    word: PlacedText | None = None
    pair: Pair | None = None
    placeholder: Placeholder | None = None


def look_at_whole(document: Document, at: Position) -> ObjectNodeAt | None:
    """None where nothing that is known stands."""
    found = next(_looks(document, at), None)
    if found is None or found.on_key or document.format != ROLE_LOOP:
        return found
    for one in placeholders(document):
        span = document.absolute(one.piece, one.island.span)
        if span.contains(at):
            place = document.absolute(one.piece, one.name_span)
            return ObjectNodeAt(
                document, place, found.shape, found.field, False, found.block, found.item, placeholder=one
            )
    return found


def _looks(document: Document, at: Position) -> Iterator[ObjectNodeAt]:
    parts = document.whole.parts
    for part in parts.keys.values():
        yield from _in_field(_Where(document, part.piece, at, parts.shape), part.field)
    for items in parts.items.values():
        for item in items:
            if item.block is not None:
                where = _Where(document, item.piece, at, item.block.shape, item.block, item)
                yield from _in_block(where, item.block)
    reading = document.whole.role_loop.termination if document.format == ROLE_LOOP else None
    condition = parts.get("termination_condition")
    if reading is not None and reading.block is not None and condition is not None:
        where = _Where(document, condition.piece, at, reading.block.shape, reading.block)
        yield from _in_block(where, reading.block)


class _Where:
    """The place, counted from a piece, and the object that is looked into."""

    def __init__(
        self,
        document: Document,
        piece: Piece,
        at: Position,
        shape: Shape,
        block: Block | None = None,
        item: Item | None = None,
    ) -> None:
        self.document, self.shape, self.block, self.item = document, shape, block, item
        self.start = document.tree.start_of(piece)
        self.at = Position(at.line - self.start, at.column)

    def inside(self, block: Block) -> _Where:
        inner = _Where.__new__(_Where)
        inner.document, inner.start, inner.at = self.document, self.start, self.at
        inner.shape, inner.block, inner.item = block.shape, block, self.item
        return inner

    def look(
        self, span: Span, field: Field, on_key: bool, word: PlacedText | None = None, pair: Pair | None = None
    ) -> ObjectNodeAt:
        place = span.shift(self.start)
        return ObjectNodeAt(self.document, place, self.shape, field, on_key, self.block, self.item, word, pair)


def _in_block(where: _Where, block: Block) -> Iterator[ObjectNodeAt]:
    if block.node.span.contains(where.at):
        for field in block.fields.values():
            yield from _in_field(where, field)


def _in_field(where: _Where, field: Field) -> Iterator[ObjectNodeAt]:
    at, key, node, value = where.at, field.entry.key.span, field.node, field.value
    if key.contains(at):
        yield where.look(key, field, True)
        return
    if node is None or isinstance(node, Alias) or not node.span.contains(at):
        return
    if isinstance(value, Block):
        yield from _in_block(where.inside(value), value)
        return
    for one in value if isinstance(value, tuple) else ():
        match one:
            case Block():
                yield from _in_block(where.inside(one), one)
            case Named(block=Block() as block):
                yield from _in_block(where.inside(block), block)
            case PlacedText() if one.span.contains(at):
                yield where.look(one.span, field, False, word=one)
            case Pair() if one.entry.key.span.contains(at):
                yield where.look(one.entry.key.span, field, True, pair=one)
            case Pair() if one.node is not None and one.node.span.contains(at):
                yield where.look(one.node.span, field, False, pair=one)
            case _:
                continue
    if not isinstance(node, Mapping | Sequence):
        yield where.look(node.span, field, False)
