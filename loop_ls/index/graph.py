"""Who waits for whom inside one file (spec 4.2): needs, variables, and the third rule about `loop.*`.

The same graph serves the checker, which edits it with every keystroke, and the engine, which wants
an order. Sets of elements are whole numbers with one bit for each, which makes closures cheap.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from loop_ls.formats.variables import producers
from loop_ls.index.closure import Closure, bits


class Node(NamedTuple):
    """What the graph has to know of a step or top-level loop. Equal nodes make an equal graph.

    `reads` are the variables it uses (`x`, `step.x`, `x.results`); `loops` tells that it calls
    in a loop, `reads_loop` that it uses `loop.iteration` or `loop.output` outside of its own loop.
    """

    name: str
    kind: str  # "step" | "loop"
    needs: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    provides: tuple[str, ...] = ()
    loops: bool = False
    reads_loop: bool = False
    execution_order: int | None = None


class _Names(NamedTuple):
    """Which element provides a name. Of several the first counts; `doubled` have several."""

    provider: dict[str, int]
    doubled: frozenset[str]

    @classmethod
    def of(cls, nodes: tuple[Node, ...]) -> _Names:
        provider: dict[str, int] = {}
        doubled: set[str] = set()
        for i, node in enumerate(nodes):
            for name in node.provides:
                if provider.setdefault(name, i) != i:
                    doubled.add(name)
        return cls(provider, frozenset(doubled))

    def exchanged(self, at: int, old: Node, new: Node) -> _Names | None:
        """After a change of names of one element; None where a name has, or gets, several providers."""
        if old.provides == new.provides:
            return self
        if not self.doubled.isdisjoint(old.provides):
            return None
        provider = self.provider.copy()
        for name in old.provides:
            del provider[name]
        for name in new.provides:
            if provider.setdefault(name, at) != at:
                return None
        return _Names(provider, self.doubled)


class Graph:
    """Immutable. Elements are meant by their index in document order."""

    __slots__ = ("_all", "_cycles", "_explicit", "_loops", "_names", "_read", "_readers", "nodes")

    def __init__(self, nodes: tuple[Node, ...], names: _Names, loops: int, readers: frozenset[int]) -> None:
        self.nodes, self._names, self._loops, self._readers = nodes, names, loops, readers
        self._explicit = Closure(self._explicit_edges)
        self._read = Closure(self._read_edges)
        self._all = Closure(self.targets)
        self._cycles: tuple[tuple[int, ...], ...] | None = None

    @classmethod
    def of(cls, nodes: Iterable[Node]) -> Graph:
        listed = tuple(nodes)
        loops = sum(1 << i for i, node in enumerate(listed) if node.loops)
        readers = frozenset(i for i, node in enumerate(listed) if node.reads_loop)
        return cls(listed, _Names.of(listed), loops, readers)

    def index(self, name: str) -> int | None:
        """The element that provides this name: its own, or that of an accumulated output."""
        return self._names.provider.get(name)

    def producer(self, variable: str) -> int | None:
        """The element that a variable waits for, None for one that comes from elsewhere."""
        for name in producers(variable):
            found = self._names.provider.get(name)
            if found is not None:
                return found
        return None

    def targets(self, index: int) -> tuple[int, ...]:
        """All elements that `index` waits for directly."""
        third = self.third(index)
        edges = self._read_edges(index)
        return edges if third is None else (*edges, third)

    def third(self, index: int) -> int | None:
        """The loop that a step waits for only because it uses `loop.iteration` or `loop.output`:
        the nearest top-level loop above, if needs and references lead to no loop."""
        if not self.nodes[index].reads_loop or self._read.of(index) & self._loops:
            return None
        above = range(index - 1, -1, -1)
        return next((i for i in above if self.nodes[i].kind == "loop"), None)

    def dependencies(self, index: int) -> frozenset[int]:
        """Everything that has to be finished before `index` starts."""
        return frozenset(bits(self._all.of(index)))

    def depends(self, index: int, on: int) -> bool:
        return bool(self._all.of(index) >> on & 1)

    def depends_explicitly(self, index: int, on: int) -> bool:
        """Whether `needs` of steps and the references of loops lead from `index` to `on` (WF304)."""
        return bool(self._explicit.of(index) >> on & 1)

    def loops_before(self, index: int) -> tuple[int, ...]:
        """The loops, of both kinds, that are finished before `index` starts."""
        return tuple(bits(self._all.of(index) & self._loops & ~(1 << index)))

    @property
    def cycles(self) -> tuple[tuple[int, ...], ...]:
        """One path for every group of elements that wait for one another; the first one is the
        highest in the document and is not repeated at the end."""
        if self._cycles is None:
            self._cycles = self._find_cycles(range(len(self.nodes)))
        return self._cycles

    def in_cycle(self, index: int) -> bool:
        return bool(self._all.of(index) >> index & 1)

    def order(self) -> tuple[int, ...]:
        """The order of a sequential run: of the elements that are ready the lower
        `execution_order`, then the higher place. What hangs in a cycle is left out."""
        waiting = {i: set(self.targets(i)) for i in range(len(self.nodes))}
        followers: dict[int, list[int]] = {}
        for i, targets in waiting.items():
            for target in targets:
                followers.setdefault(target, []).append(i)
        ready = [self._rank(i) for i, targets in waiting.items() if not targets]
        heapq.heapify(ready)
        order: list[int] = []
        while ready:
            done = heapq.heappop(ready)[1]
            order.append(done)
            for follower in followers.get(done, ()):
                waiting[follower].discard(done)
                if not waiting[follower]:
                    heapq.heappush(ready, self._rank(follower))
        return tuple(order)

    def replaced(self, start: int, removed: int, added: Sequence[Node]) -> Graph:
        """The graph after an edit that put `added` in the place of `removed` nodes."""
        nodes = (*self.nodes[:start], *added, *self.nodes[start + removed :])
        if removed != 1 or len(added) != 1:
            return self if nodes == self.nodes else Graph.of(nodes)
        return self._exchanged(start, added[0], nodes)

    def _exchanged(self, at: int, new: Node, nodes: tuple[Node, ...]) -> Graph:
        """One node in the place of another: what is known about elements that do not lead to it
        stays, as long as it provides the same names."""
        old = self.nodes[at]
        if old == new:
            return self
        names = self._names.exchanged(at, old, new)
        if names is None or old.loops != new.loops or old.kind != new.kind:
            return Graph.of(nodes)
        readers = self._readers - {at} | ({at} if new.reads_loop else set())
        graph = Graph(nodes, names, self._loops, readers)
        if names is self._names:
            graph._explicit.keep(self._explicit, without=at)
            graph._read.keep(self._read, without=at)
            if not readers and not self._readers:
                graph._all.keep(self._all, without=at)
        if self._cycles is not None:
            graph._cycles = graph._find_cycles(sorted({at, *readers, *(i for path in self._cycles for i in path)}))
        return graph

    def _rank(self, index: int) -> tuple[tuple[bool, int], int]:
        order = self.nodes[index].execution_order
        return (order is None, order or 0), index

    def _read_edges(self, index: int) -> tuple[int, ...]:
        node = self.nodes[index]
        found = [self._names.provider.get(name) for name in node.needs]
        found += [self.producer(name) for name in node.reads]
        return _others(found, index)

    def _explicit_edges(self, index: int) -> tuple[int, ...]:
        node = self.nodes[index]
        found = [self._names.provider.get(name) for name in node.needs]
        if node.loops:
            found += [self.producer(name) for name in node.reads]
        return _others(found, index)

    def _find_cycles(self, among: Iterable[int]) -> tuple[tuple[int, ...], ...]:
        found: list[tuple[int, ...]] = []
        seen = 0
        for i in among:
            if not seen >> i & 1 and self.in_cycle(i):
                group = self._group(i)
                seen |= group
                found.append(self._path(min(bits(group)), group))
        return tuple(sorted(found))

    def _group(self, index: int) -> int:
        """All elements that wait for `index` and that it waits for, itself included."""
        reach = self._all.of(index)
        return sum(1 << i for i in bits(reach) if self._all.of(i) >> index & 1)

    def _path(self, start: int, group: int) -> tuple[int, ...]:
        """The shortest way from `start` back to itself inside its group."""
        came: dict[int, int] = {}
        front = [start]
        while front:
            ahead: list[int] = []
            for i in front:
                for target in self.targets(i):
                    if target == start:
                        return _way(came, start, i)
                    if group >> target & 1 and target not in came:
                        came[target] = i
                        ahead.append(target)
            front = ahead
        return (start,)


def _way(came: dict[int, int], start: int, end: int) -> tuple[int, ...]:
    way = [end]
    while way[-1] != start:
        way.append(came[way[-1]])
    return tuple(reversed(way))


def _others(found: Iterable[int | None], index: int) -> tuple[int, ...]:
    """Each target once, in order; an element that names itself is no edge (WF302, WF510)."""
    return tuple(dict.fromkeys(i for i in found if i is not None and i != index))
