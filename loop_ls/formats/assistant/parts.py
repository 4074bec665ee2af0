"""The assistants of a file as they are written, faults and all: what checking, features and the reader ask."""

from __future__ import annotations

import re
from collections.abc import Iterator

from loop_ls.formats.assistant.keys import DEFAULT_ITERATIONS, LIST
from loop_ls.formats.checks.target import INPUT, Places
from loop_ls.formats.common.json_types import flag, kind_of, number, text_of, whole
from loop_ls.formats.common.object_parts import Part, Parts, UnknownKey
from loop_ls.formats.common.typed_mapping import Block
from loop_ls.syntax.incremental.piece import Piece
from loop_ls.syntax.nodes import Entry, Node
from loop_ls.text.record import record


@record
class AssistantParts:
    """One assistant. Without a `block` it is the whole file, whose keys stand in pieces of their own."""

    parts: Parts
    piece: Piece | None = None
    block: Block | None = None

    def get(self, name: str) -> Part | None:
        if self.block is None or self.piece is None:
            return self.parts.get(name)
        field = self.block.get(name)
        return None if field is None else Part(self.piece, field)

    def node(self, name: str) -> Node | None:
        part = self.get(name)
        return None if part is None else part.node

    def has(self, name: str) -> bool:
        """Whether the key is written and says something."""
        return kind_of(self.node(name)) != "null"

    def meant(self, name: str) -> bool:
        return self.parts.meant(name) if self.block is None else self.block.meant(name)

    def written(self) -> Iterator[Part]:
        if self.block is None or self.piece is None:
            yield from self.parts.keys.values()
        else:
            yield from (Part(self.piece, field) for field in self.block.fields.values())

    def strays(self) -> Iterator[UnknownKey]:
        if self.block is None or self.piece is None:
            yield from self.parts.strays
        else:
            yield from (UnknownKey(self.piece, unknown) for unknown in self.block.unknown)

    @property
    def first(self) -> tuple[Piece | None, Entry | Node | None]:
        """What to mark when the assistant itself is meant: its first key."""
        if self.block is None:
            return self.parts.first or (None, None)
        entries = self.block.node.entries
        return self.piece, entries[0] if entries else self.block.node

    @property
    def identity(self) -> int:
        """The same for two that are written once and shared by an anchor."""
        return id(self.parts) if self.block is None else id(self.block.node)

    # -- values -----------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        return text_of(self.node("name")) or ""

    @property
    def key(self) -> str:
        """How the loop is found: its `id`, else a slug of its name."""
        return text_of(self.node("id")) or slug(self.name)

    @property
    def enabled(self) -> bool:
        return flag(self.node("loopEnabled")) is True

    @property
    def criteria(self) -> Block | None:
        part = self.get("loopCriteria")
        return part.field.value if part is not None and isinstance(part.field.value, Block) else None

    @property
    def criteria_type(self) -> str | None:
        field = None if self.criteria is None else self.criteria.get("type")
        return None if field is None else text_of(field.node)

    @property
    def max_iterations(self) -> int | None:
        """None where it is written and faulty."""
        return whole(self.node("maxIterations")) if self.get("maxIterations") is not None else DEFAULT_ITERATIONS

    @property
    def budget(self) -> float | None:
        return number(self.node("maxBudgetUsd"))

    @property
    def total_budget(self) -> float | None:
        return number(self.node("maxTotalBudgetUsd"))


def assistants_of(parts: Parts) -> tuple[AssistantParts, ...]:
    """All assistants of a file, each once."""
    if not is_list(parts):
        return (AssistantParts(parts),)
    found: dict[int, AssistantParts] = {}
    for item in parts.listed(LIST):
        if item.block is not None:
            one = AssistantParts(parts, item.piece, item.block)
            found.setdefault(one.identity, one)
    return tuple(found.values())


def places_of(parts: Parts) -> Places:
    """What checks and test cases of the file may speak of: its assistants are loops, without parts."""
    found = assistants_of(parts)
    names = dict.fromkeys(name for one in found for name in (one.key, one.name) if name)
    title = ", ".join(one.name for one in found)
    return Places(title, {"loop": [*names]}, needs=(INPUT,), reads=(INPUT,))


def slug(name: str) -> str:
    """A name as a key: small letters and digits, words joined by `-`."""
    return re.sub(r"[^a-z0-9]+", "-", name.casefold()).strip("-")


def is_list(parts: Parts) -> bool:
    """Whether a file holds several assistants."""
    return parts.get(LIST) is not None or bool(parts.listed(LIST))
