"""A step or top-level loop as the index sees it: names, uses, references, with places.

Elements are made once for each piece of the tree (see `index.reading`) and shared by all versions
of a document that hold the piece. Every place is relative to the first line of that piece.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from loop_ls.formats.common.key_table import Key
from loop_ls.formats.common.typed_mapping import Block, Field, Pair, PlacedText
from loop_ls.formats.workflow.condition import Condition
from loop_ls.index.graph.names import Node
from loop_ls.syntax.nodes import Scalar
from loop_ls.text.position import Position, Span
from loop_ls.text.record import record

if TYPE_CHECKING:
    from loop_ls.syntax.placeholders import Island
    from loop_ls.syntax.tree import Piece

#: `with` fills a variable of the callee, the others are the keys themselves.
SlotKind = Literal["run", "prompt", "query", "input", "input_file", "output_file", "if", "with", "items", "until"]


@record
class Slot:
    """One text in which placeholders are filled in.

    `block` is the mapping that holds the key, `argument` the key under `with`. In a slot `of_loop`
    the variables of that loop exist. `islands` is everything in double braces.
    """

    kind: SlotKind
    key: Key
    scalar: Scalar
    block: Block
    islands: tuple[Island, ...] = ()
    argument: str | None = None
    of_loop: bool = False
    condition: Condition | None = None

    @property
    def strict(self) -> bool:
        """Whether an unknown variable here fails something instead of staying as written."""
        return self.key.strict

    @property
    def asks(self) -> bool:
        """Whether it is a prompt: the text of a step, or the one that the models of a `consensus` get."""
        return self.kind in ("run", "prompt")


class Use(NamedTuple):
    """One variable in one slot. `name` is what is looked up."""

    name: str
    island: Island
    slot: Slot

    @property
    def span(self) -> Span:
        """The placeholder with its braces; for the operand of `${{ x == "v" }}` the name alone."""
        return self.name_span if self.island.name is None else self.island.span

    @property
    def name_span(self) -> Span:
        """Where the name is written. A `.result` behind an operand does not belong to it."""
        start = self.island.raw.find(self.name)
        return self.island.part(start, start + len(self.name))

    @property
    def path(self) -> tuple[str, ...]:
        return tuple(self.name.split("."))

    @property
    def strict(self) -> bool:
        return self.slot.strict

    @property
    def block(self) -> Block:
        return self.slot.block

    def part(self, first: int, last: int | None = None) -> Span:
        """The place of the parts `first` to `last` (inclusive) of the path."""
        parts = self.path
        stop = first + 1 if last is None else last + 1
        begin = self.island.raw.find(self.name) + sum(len(part) + 1 for part in parts[:first])
        return self.island.part(begin, begin + len(".".join(parts[first:stop])))


class StrayBraces(NamedTuple):
    """Double braces in a field in which nothing is filled in (WF509, WF116)."""

    key: Key
    scalar: Scalar
    island: Island


class Need(NamedTuple):
    """One entry of `needs`."""

    name: str
    span: Span


@record
class Reference:
    """The call of another workflow. `text` is the reference as written, empty where it is missing.

    `block` is the template or the loop. `arguments` is None where `with` is absent.
    """

    kind: Literal["template", "loop"]
    text: str
    span: Span
    block: Block
    field: Field | None
    arguments: tuple[Pair, ...] | None
    iterates: bool = False

    def argument(self, name: str) -> Pair | None:
        return next((pair for pair in self.arguments or () if pair.name == name), None)

    def supplies(self, name: str) -> bool:
        """Whether the callee has this variable from the call."""
        return (name == "item" and self.iterates) or self.argument(name) is not None


@record
class Element:
    """One step or top-level loop. `name` is empty and `name_span` None where it has none.

    `modes` are the mode keys of a step in written order. `loop` is the loop itself, whether at top
    level or inside a step. `mentioned` are all names whose meaning can change what this element
    means: variables, the elements behind them, and `needs`.
    """

    kind: Literal["step", "loop"]
    name: str
    name_span: Span | None
    piece: Piece
    block: Block
    modes: tuple[str, ...]
    loop: Block | None
    needs: tuple[Need, ...]
    slots: tuple[Slot, ...]
    uses: tuple[Use, ...]
    strays: tuple[StrayBraces, ...]
    accumulate: PlacedText | None
    reference: Reference | None
    node: Node
    mentioned: frozenset[str]

    @property
    def mode(self) -> str | None:
        """What a step does (`run`, `template`, ...); `loop` for a top-level loop."""
        return self.modes[0] if self.modes else None

    @property
    def loop_mode(self) -> Literal["refine", "iterate"] | None:
        """The mode of the loop; None for elements that are no loop, and for an unknown mode."""
        if self.loop is None:
            return None
        match self.loop.text("mode"):
            case None | "" | "refine":
                return "refine"
            case "iterate":
                return "iterate"
            case _:
                return None

    @property
    def prompts(self) -> tuple[Slot, ...]:
        """What it asks models in its own words: `run`, and the `prompt` of a `consensus`."""
        return tuple(slot for slot in self.slots if slot.asks)

    @property
    def prompt(self) -> str:
        """The text of its prompt; empty where it has none."""
        return next((slot.scalar.text for slot in self.prompts), "")

    @property
    def span(self) -> Span:
        """The whole item."""
        return self.block.node.span

    @property
    def label_span(self) -> Span:
        """What to mark when the element is meant: its name, else where its entry begins: at its first key, in
        flow style at the bracket."""
        if self.name_span is not None:
            return self.name_span
        if self.block.node.flow:
            start, end = self.block.node.span
            return Span(start, end if end.line == start.line else Position(start.line, start.column + 1))
        return self.block.node.entries[0].key.span if self.block.node.entries else self.block.node.span


class Definition(NamedTuple):
    """Where a name comes from. `span` is relative to the piece of the element."""

    name: str
    kind: Literal["step", "loop", "accumulate"]
    element: Element
    span: Span
