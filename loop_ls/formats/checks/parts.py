"""The checks and cases of a file as they are written, faults and all: what checking, features and the reader ask."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from loop_ls.formats.checks.keys import ASSERT, TESTS, TYPES, TypeOfCheck, taken_apart
from loop_ls.formats.common.json_types import text_of
from loop_ls.formats.common.object_parts import Parts
from loop_ls.formats.common.typed_mapping import Block
from loop_ls.syntax.incremental.piece import Piece
from loop_ls.syntax.nodes import Node


class WrittenCheck(NamedTuple):
    """`case` is the place of the case in which it stands; None: it is one of the file's."""

    piece: Piece
    block: Block
    case: int | None = None

    def node(self, name: str) -> Node | None:
        field = self.block.get(name)
        return None if field is None else field.node

    def text(self, name: str) -> str:
        return text_of(self.node(name)) or ""

    @property
    def type(self) -> TypeOfCheck | None:
        """None: there is no such type."""
        found = taken_apart(self.text("type"))
        return None if found is None else TYPES[found[0]]

    @property
    def bare_type(self) -> str:
        """The type without `not-`; empty: there is no such type."""
        found = taken_apart(self.text("type"))
        return "" if found is None else found[0]

    @property
    def key(self) -> str:
        """How it is called without looking at the others: by its name, else by its type."""
        return self.text("name") or self.text("type")


class WrittenCase(NamedTuple):
    place: int
    piece: Piece
    block: Block

    def node(self, name: str) -> Node | None:
        field = self.block.get(name)
        return None if field is None else field.node

    @property
    def name(self) -> str:
        return text_of(self.node("name")) or ""

    @property
    def checks(self) -> Iterator[WrittenCheck]:
        for block in self.block.blocks(ASSERT):
            yield WrittenCheck(self.piece, block, self.place)


def cases_in(parts: Parts) -> Iterator[WrittenCase]:
    for place, item in enumerate(parts.listed(TESTS)):
        if item.block is not None:
            yield WrittenCase(place, item.piece, item.block)


def checks_in(parts: Parts) -> Iterator[WrittenCheck]:
    """Those of the file, else those of its cases."""
    for item in parts.listed(ASSERT):
        if item.block is not None:
            yield WrittenCheck(item.piece, item.block)
    for case in cases_in(parts):
        yield from case.checks
