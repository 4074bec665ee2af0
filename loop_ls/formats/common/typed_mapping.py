"""A mapping read against its shape: typed values that still know where they are written.

Wrong values are kept as faults beside the value, so that one reading serves checking (which wants
the faults), completion and hover (which want the rest) and the engine (which wants neither).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple

from loop_ls.formats.common.did_you_mean import nearest
from loop_ls.formats.common.key_table import Advice, Key, Shape
from loop_ls.syntax import nodes
from loop_ls.syntax.nodes import Entry, Node, Scalar
from loop_ls.text.position import Span
from loop_ls.text.record import record

#: What is wrong with a value: `duration` is WF008, all others are WF007. `braces`: `{{x}}` without
#: quotes is a mapping in YAML. `bare`: one word where a list is expected.
FaultKind = Literal["type", "quoted", "fraction", "braces", "bare", "duration"]


class Fault(NamedTuple):
    """One wrong value: the value as written (for its mark), and what was expected, in words."""

    kind: FaultKind
    node: Node
    expected: str


class PlacedText(NamedTuple):
    """A text with its place: an item of a list, a name."""

    text: str
    span: Span


class Pair(NamedTuple):
    """One entry of `env` or `with`. `text` is None where the value is a sequence or mapping."""

    name: str
    entry: Entry
    text: str | None

    @property
    def node(self) -> Node | None:
        return self.entry.value


class Named(NamedTuple):
    """One mapping under a name that its author chose. `block` is None where it is no mapping."""

    name: str
    entry: Entry
    block: Block | None


class Field(NamedTuple):
    """One known key that is written, with its value.

    `value` has the type that the key asks for: str, int, float, bool, seconds, a tuple of words,
    pairs or blocks, a block, or the node where anything may stand. It is None where the value is
    faulty or absent; `empty` tells the latter. An empty value of a text key is the empty text.
    """

    key: Key
    entry: Entry
    value: Value
    faults: tuple[Fault, ...] = ()
    empty: bool = False

    @property
    def node(self) -> Node | None:
        """The value as written."""
        return self.entry.value

    @property
    def scalar(self) -> Scalar | None:
        """The text as written (behind an alias if need be), where placeholders are looked for."""
        node = nodes.resolved(self.entry.value)
        return node if isinstance(node, Scalar) else None

    @property
    def span(self) -> Span:
        """What to mark when the value is meant: the value, or the key where nothing is written."""
        node = self.entry.value
        return self.entry.key.span if node is None else node.span

    @property
    def fault(self) -> FaultKind | None:
        return self.faults[0].kind if self.faults else None


class Unknown(NamedTuple):
    """A key that does not exist here. `meant` are keys that count as present because of it."""

    entry: Entry
    advice: Advice | None
    meant: tuple[str, ...]

    @property
    def likely(self) -> str | None:
        """The key that the value may stay with as it is."""
        return self.meant[0] if self.meant and (self.advice is None or self.advice.rename) else None


class Repeated(NamedTuple):
    """A key that is written again in one mapping. The first one counts."""

    later: Entry
    first: Entry


@record
class Block:
    """One mapping of a known shape. `node` is the mapping, wherever an alias may have been written;
    `inner` are the blocks directly inside this one."""

    shape: Shape
    node: nodes.Mapping
    fields: Mapping[str, Field]
    unknown: tuple[Unknown, ...] = ()
    repeated: tuple[Repeated, ...] = ()
    inner: tuple[Block, ...] = ()

    def get(self, name: str) -> Field | None:
        return self.fields.get(name)

    def writes(self, name: str) -> bool:
        """Whether the key is written as it is called; a misspelt one counts, but is not."""
        field = self.fields.get(name)
        return field is not None and field.entry.key.text == name

    def has(self, name: str) -> bool:
        """Whether the key is written, in whatever state its value is; a misspelt one counts."""
        return name in self.fields

    def meant(self, name: str) -> bool:
        """Whether the key is written, or an unknown key is there that probably means it."""
        return name in self.fields or any(name in unknown.meant for unknown in self.unknown)

    def text(self, name: str) -> str | None:
        value = self._value(name)
        return value if isinstance(value, str) else None

    def integer(self, name: str) -> int | None:
        value = self._value(name)
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    def number(self, name: str) -> float | None:
        """A number, or the seconds of a duration."""
        value = self._value(name)
        return value if isinstance(value, int | float) and not isinstance(value, bool) else None

    def flag(self, name: str) -> bool | None:
        value = self._value(name)
        return value if isinstance(value, bool) else None

    def block(self, name: str) -> Block | None:
        value = self._value(name)
        return value if isinstance(value, Block) else None

    def blocks(self, name: str) -> tuple[Block, ...]:
        return tuple(item for item in self._items(name) if isinstance(item, Block))

    def words(self, name: str) -> tuple[PlacedText, ...]:
        return tuple(item for item in self._items(name) if isinstance(item, PlacedText))

    def pairs(self, name: str) -> tuple[Pair, ...]:
        return tuple(item for item in self._items(name) if isinstance(item, Pair))

    def named(self, name: str) -> tuple[Named, ...]:
        return tuple(item for item in self._items(name) if isinstance(item, Named))

    def walk(self) -> Iterator[Block]:
        """This block and every block inside it, outer ones first."""
        waiting = [self]
        while waiting:
            block = waiting.pop()
            yield block
            if block.inner:
                waiting += reversed(block.inner)

    def _value(self, name: str) -> Value:
        field = self.fields.get(name)
        return None if field is None else field.value

    def _items(self, name: str) -> tuple[object, ...]:
        value = self._value(name)
        return value if isinstance(value, tuple) else ()


Value = (
    None
    | str
    | bool
    | int
    | float
    | Block
    | tuple[PlacedText, ...]
    | tuple[Pair, ...]
    | tuple[Named, ...]
    | tuple[Block, ...]
    | tuple[float, ...]
    | nodes.Mapping
    | nodes.Sequence
    | Scalar
    | nodes.Alias
)


def unknown_key(shape: Shape, entry: Entry) -> Unknown:
    """An entry whose key the shape does not have, with what was probably meant."""
    written = entry.key.text
    advice = shape.wrong_keys.get(written)
    if advice is not None:
        return Unknown(entry, advice, advice.instead)
    close = nearest(written, shape.keys) or _begun(written, shape)
    return Unknown(entry, None, () if close is None else (close,))


def _begun(written: str, shape: Shape) -> str | None:
    """The only key that begins like this: it is being typed, or was cut short."""
    found = [key for key in shape.keys if key.startswith(written)] if len(written) > 2 else []
    return found[0] if len(found) == 1 else None
