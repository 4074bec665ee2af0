"""A file that is one object, read piece by piece: its top-level keys, and the objects in its lists.

Serves the formats that are no workflow. Every place is relative to the piece it was read in, so what
was read of a piece may be kept as long as the piece lives.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from loop_ls.formats.common.key_table import Shape, Type
from loop_ls.formats.common.read_value import read_block, read_field
from loop_ls.formats.common.typed_mapping import Block, Field, Unknown, unknown_key
from loop_ls.syntax import nodes
from loop_ls.syntax.incremental.piece import Piece
from loop_ls.syntax.nodes import Entry, Node, Sequence, resolved
from loop_ls.text.record import record

#: Top-level keys that are none of a format's own: a merge key, and where an editor finds the JSON schema.
_FREE = ("<<", "$schema")


class Part(NamedTuple):
    """One key that is known, with the piece that its places count from. The items of a list of objects
    are in `Parts.items`, not in the value of its field."""

    piece: Piece
    field: Field

    @property
    def node(self) -> Node | None:
        return self.field.node

    @property
    def entry(self) -> Entry:
        return self.field.entry


class UnknownKey(NamedTuple):
    """A key that does not exist."""

    piece: Piece
    unknown: Unknown


@record
class Item:
    """One entry of a list of objects. `block` is None where it is no object."""

    piece: Piece
    node: Node | None
    block: Block | None

    def get(self, name: str) -> Part | None:
        field = None if self.block is None else self.block.get(name)
        return None if field is None else Part(self.piece, field)


class PieceParts(NamedTuple):
    """What one piece holds. `section`: the list that the items belong to."""

    part: Part | None = None
    stray: UnknownKey | None = None
    section: str = ""
    items: tuple[Item, ...] = ()


NOTHING = PieceParts()


def parts_of_piece(piece: Piece, shape: Shape) -> PieceParts:
    """Everything that can be said of a piece without looking at another one."""
    if piece.kind == "item":
        key = shape.keys.get(piece.section or "")
        if key is None:
            return NOTHING
        if key.shape is None or key.type is not Type.BLOCKS:  # where no list belongs
            return PieceParts(section=key.name, items=(Item(piece, piece.node, None),))
        return PieceParts(section=key.name, items=(_item(piece, piece.node, key.shape),))
    if piece.key is None or piece.key.text in _FREE:
        return NOTHING
    entry = Entry(piece.key, piece.node)
    key = shape.keys.get(piece.key.text)
    if key is None:
        return PieceParts(stray=UnknownKey(piece, unknown_key(shape, entry)))
    if key.type is not Type.BLOCKS or key.shape is None:
        return PieceParts(Part(piece, read_field(key, entry)))
    found = resolved(piece.node)
    listed = found.items if isinstance(found, Sequence) else ()
    inner = key.shape
    items = tuple(_item(piece, node, inner) for node in listed)
    return PieceParts(Part(piece, Field(key, entry, None, (), piece.node is None)), None, key.name, items)


def _item(piece: Piece, node: Node | None, shape: Shape) -> Item:
    found = resolved(node)
    return Item(piece, node, read_block(shape, found) if isinstance(found, nodes.Mapping) else None)


@record
class Parts:
    """The whole file. Of a repeated key the first counts. `first` is the first key of all, known or not."""

    shape: Shape
    keys: Mapping[str, Part]
    strays: tuple[UnknownKey, ...]
    items: Mapping[str, tuple[Item, ...]]
    first: tuple[Piece, Entry] | None = None

    @classmethod
    def of(cls, shape: Shape, pieces: Iterable[PieceParts]) -> Parts:
        keys: dict[str, Part] = {}
        strays: dict[str, UnknownKey] = {}
        items: dict[str, tuple[Item, ...]] = {}
        first: tuple[Piece, Entry] | None = None
        for one in pieces:
            if one.part is not None:
                keys.setdefault(one.part.field.key.name, one.part)
                first = first or (one.part.piece, one.part.entry)
            if one.stray is not None:
                strays.setdefault(one.stray.unknown.entry.key.text, one.stray)
                first = first or (one.stray.piece, one.stray.unknown.entry)
            if one.items:
                items[one.section] = (*items.get(one.section, ()), *one.items)
        return cls(shape, keys, tuple(strays.values()), items, first)

    def get(self, name: str) -> Part | None:
        return self.keys.get(name)

    def node(self, name: str) -> Node | None:
        part = self.keys.get(name)
        return None if part is None else part.node

    def meant(self, name: str) -> bool:
        """Whether the key is written, or an unknown one that probably means it."""
        return name in self.keys or any(name in stray.unknown.meant for stray in self.strays)

    def listed(self, name: str) -> tuple[Item, ...]:
        """The entries of a list of objects."""
        return self.items.get(name, ())
