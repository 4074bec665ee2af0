"""What the graph knows of a step or loop, and which of them provides a name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple


class Node(NamedTuple):
    """What the graph has to know of a step or top-level loop. Equal nodes make an equal graph.

    `reads` are the variables it uses (`x`, `step.x`, `x.results`). `loops`: it is a loop or holds
    one; `reads_loop`: it uses `loop.iteration` or `loop.output` outside of a loop of its own.
    """

    name: str
    kind: str  # "step" | "loop"
    needs: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    provides: tuple[str, ...] = ()
    loops: bool = False
    reads_loop: bool = False
    execution_order: int | None = None


class Providers(NamedTuple):
    """Which element provides a name. Of several the first counts; `doubled` have several."""

    table: dict[str, int]
    doubled: frozenset[str]

    @classmethod
    def of(cls, ids: Iterable[int], nodes: Mapping[int, Node]) -> Providers:
        table: dict[str, int] = {}
        doubled: set[str] = set()
        for i in ids:
            for name in nodes[i].provides:
                if table.setdefault(name, i) != i:
                    doubled.add(name)
        return cls(table, frozenset(doubled))

    def replaced(self, old: Iterable[Node], new: Iterable[tuple[int, Node]]) -> Providers | None:
        """After an edit; None where a name has, or gets, several providers, so that places decide."""
        table = self.table.copy()
        for node in old:
            if not self.doubled.isdisjoint(node.provides):
                return None
            for name in node.provides:
                del table[name]
        for i, node in new:
            for name in node.provides:
                if table.setdefault(name, i) != i:
                    return None
        return Providers(table, self.doubled)
