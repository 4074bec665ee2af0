"""Anchors and what their aliases stand for, bounded: nobody who follows aliases can be led astray.

An alias that would make the tree too large or too deep when it is followed stands for nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from loop_ls.syntax.nodes import Alias, Mapping, Node, Scalar, Sequence
from loop_ls.text.fault import Fault
from loop_ls.text.position import Span

#: How deep nodes may lie, aliases followed; a workflow needs about ten levels.
MAX_DEPTH = 100
#: How many nodes aliases and merge keys may add to one reading, aliases followed.
MAX_ADDED = 20_000


class Anchored(NamedTuple):
    """What an anchor marks; how many nodes and levels it has, aliases followed."""

    name: str
    node: Node
    size: int
    height: int


class Anchors:
    """The anchors of one reading so far. `outer` are those that stand in front of what is read, places relative to
    it. `missing` are the aliases without an anchor in this reading; some of them may have an outer one."""

    def __init__(self, outer: Iterable[Anchored] = ()) -> None:
        self._outer = {one.name: one for one in outer}
        self.nodes: dict[str, Node] = {}
        self.missing: list[Alias] = []
        self.faults: list[Fault] = []
        self._open: set[str] = set()
        self._weights: dict[int, tuple[int, int, Node]] = {
            id(one.node): (one.size, one.height, one.node) for one in self._outer.values()
        }
        self.added = 0

    def found(self) -> tuple[Anchored, ...]:
        """The anchors of this reading."""
        return tuple(Anchored(name, node, *self._weight(node)) for name, node in self.nodes.items())

    def target(self, name: str) -> Node | None:
        """What an alias of this name would stand for here."""
        if name in self.nodes:
            return self.nodes[name]
        return self._outer[name].node if name in self._outer and name not in self._open else None

    def begin(self, name: str) -> None:
        """The anchored collection begins: until its end, an alias of it would contain itself."""
        self._open.add(name)
        self.nodes.pop(name, None)

    def end(self, name: str, node: Node) -> None:
        self._open.discard(name)
        self.nodes[name] = node

    def alias(self, name: str, span: Span, depth: int) -> Alias:
        """The alias at `depth`, with its target if it may have one."""
        target = self.target(name)
        if name in self._open:
            sentence = f"`*{name}` is inside its own anchor; an anchor cannot contain itself."
            self.faults.append(Fault(span, sentence, "recursive-anchor"))
        elif name not in self.nodes:
            self.missing.append(Alias(span, name, None))
        if target is None:
            return Alias(span, name, None)
        size, height = self._weight(target)
        if depth + height > MAX_DEPTH:
            sentence = f"`*{name}` is nested deeper than {MAX_DEPTH} levels; write the value out instead."
            self.faults.append(Fault(span, sentence, "too-deep"))
            return Alias(span, name, None)
        if not self.afford(size):
            sentence = f"`*{name}` makes the file too large: aliases add more than {MAX_ADDED} values."
            self.faults.append(Fault(span, sentence, "too-many-aliases"))
            return Alias(span, name, None)
        return Alias(span, name, target)

    def afford(self, size: int) -> bool:
        """Whether that many nodes may still be added; they count from now on."""
        if self.added + size > MAX_ADDED:
            return False
        self.added += size
        return True

    def _weight(self, node: Node) -> tuple[int, int]:
        """Number of nodes and of levels, aliases followed. A merge key may bring in what an outer anchor has further
        down, so a node that no anchor of this reading marks is counted when it is met."""
        if id(node) not in self._weights:
            self._weights[id(node)] = (*self._weigh(node), node)
        size, height, _ = self._weights[id(node)]
        return size, height

    def _weigh(self, node: Node) -> tuple[int, int]:
        size, height = 0, 0
        waiting: list[tuple[Node, int]] = [(node, 1)]
        while waiting:
            part, level = waiting.pop()
            size += 1
            height = max(height, level)
            match part:
                case Alias(target=target) if target is not None:
                    more, levels = self._weight(target)
                    size, height = size + more, max(height, level + levels)
                case Mapping():
                    waiting += [(entry.value, level + 1) for entry in part.entries if entry.value is not None]
                case Sequence():
                    waiting += [(item, level + 1) for item in part.items if item is not None]
                case Scalar() | Alias():
                    pass
        return size, height
