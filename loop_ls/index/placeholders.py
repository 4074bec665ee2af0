"""Every `{{parameter}}` that is written in a role-loop definition, with its place."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from loop_ls.formats.common.object_parts import Item
from loop_ls.formats.role_loop.parts import RoleLoopParts
from loop_ls.index.document import Document
from loop_ls.syntax.incremental.piece import Piece
from loop_ls.syntax.nodes import Alias, Entry, Mapping, Node, Scalar, Sequence
from loop_ls.syntax.placeholders import Island, islands
from loop_ls.text.position import Span


class Placeholder(NamedTuple):
    """`exact`: without blanks, so that it is filled in. `idle`: it stands where nothing is filled in: in a
    key that does not exist, or in the words about a parameter."""

    piece: Piece
    island: Island
    name: str
    exact: bool
    idle: bool

    @property
    def name_span(self) -> Span:
        """The name alone, in its piece."""
        start = self.island.raw.index(self.name)
        return self.island.part(start, start + len(self.name))


def placeholders(document: Document) -> tuple[Placeholder, ...]:
    """All of them, in the order of the keys of the file."""
    return tuple(_placeholders(document.whole.role_loop))


def _placeholders(loop: RoleLoopParts) -> Iterator[Placeholder]:
    parts = loop.parts
    for name, part in parts.keys.items():
        if name == "parameters":
            for item in parts.listed(name):
                yield from _of_parameter(item)
        elif name == "roles":
            for item in parts.listed(name):
                yield from _in(item.piece, item.node, False)
        else:
            yield from _in(part.piece, part.node, False)
    for stray in parts.strays:
        yield from _in(stray.piece, stray.unknown.entry.value, True)


def _of_parameter(item: Item) -> Iterator[Placeholder]:
    for entry in _entries(item.node):
        yield from _in(item.piece, entry.value, entry.key.text != "default")


def _entries(node: Node | None) -> tuple[Entry, ...]:
    return node.entries if isinstance(node, Mapping) else ()


def _in(piece: Piece, node: Node | None, idle: bool) -> Iterator[Placeholder]:
    match node:
        case Scalar():
            for island in islands(piece.lines, node):
                if island.name is not None and island.kind in ("variable", "triple"):
                    yield Placeholder(piece, island, island.name, island.raw == island.name, idle)
        case Mapping():
            for entry in node.entries:
                yield from _in(piece, entry.value, idle)
        case Sequence():
            for item in node.items:
                yield from _in(piece, item, idle)
        case Alias() | None:
            return
