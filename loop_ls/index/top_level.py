"""The top-level keys of a workflow, which stand in pieces of their own.

Like a block, but every place is relative to the piece of its key. `steps` and `loops` may be
repeated and count as joined (D15); of every other repeated key the first counts.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, cast

from loop_ls.formats.common.key_table import Type
from loop_ls.formats.common.read_value import read_field
from loop_ls.formats.common.typed_mapping import Block, Fault, Field, Pair, Unknown, unknown_key
from loop_ls.formats.workflow.keys import WORKFLOW
from loop_ls.syntax.nodes import Entry, Mapping, Node, Sequence, resolved
from loop_ls.text.record import record

if TYPE_CHECKING:
    from loop_ls.syntax.tree import Piece

#: The top-level keys whose items are elements.
SECTIONS = ("steps", "loops")


class Top(NamedTuple):
    """One top-level key: a known one has a `field`, any other an `unknown`."""

    piece: Piece
    entry: Entry
    field: Field | None
    unknown: Unknown | None

    @property
    def name(self) -> str:
        return self.entry.key.text


class RepeatedTop(NamedTuple):
    later: Top
    first: Top


@record
class Head:
    """All top-level keys in written order."""

    tops: tuple[Top, ...]

    @cached_property
    def first(self) -> dict[str, Top]:
        table: dict[str, Top] = {}
        for top in self.tops:
            table.setdefault(top.name, top)
        return table

    @cached_property
    def repeated(self) -> tuple[RepeatedTop, ...]:
        """Every key that is written again, `steps` and `loops` included."""
        return tuple(RepeatedTop(top, self.first[top.name]) for top in self.tops if self.first[top.name] is not top)

    @property
    def unknown(self) -> tuple[Top, ...]:
        return tuple(top for top in self.tops if top.unknown is not None and self.first[top.name] is top)

    def get(self, name: str) -> Top | None:
        """The first key of this name; a misspelt one where there is no other."""
        return self.first.get(name) or self._meant.get(name)

    @property
    def names(self) -> set[str]:
        """What `get` has something for."""
        return {*self.first, *self._meant}

    @cached_property
    def _meant(self) -> dict[str, Top]:
        """Misspelt keys by the name that was probably meant, with their values."""
        found: dict[str, Top] = {}
        for top in self.unknown:
            name = None if top.unknown is None else top.unknown.likely
            key = WORKFLOW.keys.get(name or "")
            if key is None or key.type is Type.BLOCKS or key.name == "$schema":
                continue  # sections are cut by their names, and a file is what it says it is
            if key.name not in self.first:
                found.setdefault(key.name, top._replace(field=read_field(key, top.entry)))
        return found

    @cached_property
    def misspelt_sections(self) -> bool:
        """Whether `steps` or `loops` were probably meant by other words, so that nobody knows their names."""
        return any(top.unknown is not None and top.unknown.likely in SECTIONS for top in self.unknown)

    def all(self, name: str) -> tuple[Top, ...]:
        """Every block of a key that may be repeated."""
        return tuple(top for top in self.tops if top.name == name)

    def has(self, name: str) -> bool:
        return name in self.first

    def meant(self, name: str) -> bool:
        """Whether the key is written, or an unknown one that probably means it."""
        return name in self.first or any(name in top.unknown.meant for top in self.tops if top.unknown)

    def field(self, name: str) -> Field | None:
        top = self.get(name)
        return None if top is None else top.field

    def text(self, name: str) -> str | None:
        field = self.field(name)
        return field.value if field is not None and isinstance(field.value, str) else None

    @property
    def execution(self) -> Block | None:
        field = self.field("execution")
        return field.value if field is not None and isinstance(field.value, Block) else None

    @cached_property
    def env(self) -> dict[str, Pair]:
        """The constants of this file by name."""
        field = self.field("env")
        pairs = cast(tuple[Pair, ...], field.value or ()) if field is not None else ()
        return {pair.name: pair for pair in pairs}


def read_top(piece: Piece) -> Top | None:
    """The key of a piece; None for pieces that have none, and for a merge key at top level."""
    if piece.key is None or piece.key.text == "<<":
        return None
    entry = Entry(piece.key, piece.node)
    key = WORKFLOW.keys.get(piece.key.text)
    if key is None:
        return Top(piece, entry, None, unknown_key(WORKFLOW, entry))
    if key.type is Type.BLOCKS:
        return Top(piece, entry, Field(key, entry, None, _section_faults(piece.node), piece.node is None), None)
    return Top(piece, entry, read_field(key, entry), None)


def _section_faults(node: Node | None) -> tuple[Fault, ...]:
    """What is wrong with the value of `steps` or `loops`; its items are read one by one elsewhere."""
    found = resolved(node)
    if node is None or found is None or isinstance(found, Sequence):
        return ()
    kind: str = "type" if isinstance(found, Mapping) else "bare"
    return (Fault("type" if kind == "type" else "bare", node, Type.BLOCKS.value),)


def inline_items(node: Node | None) -> tuple[Node | None, ...]:
    """The items of a section that is written in flow style or behind an alias."""
    found = resolved(node)
    return found.items if isinstance(found, Sequence) else ()
