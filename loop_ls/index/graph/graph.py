"""Who waits for whom inside one file: needs, variables, and the third rule about `loop.*`.

The same graph serves the checker, which edits it with every keystroke, and the engine, which wants
an order. Outside, elements are meant by their index in document order; inside by numbers that stay
when elements are inserted above, so that an edit keeps what is known about the others.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from loop_ls.formats.workflow.placeholder_syntax import producers
from loop_ls.index.graph.names import Node, Providers
from loop_ls.index.graph.reachability import Closure, bits

if TYPE_CHECKING:
    from loop_ls.formats.workflow.model import Element, Workflow

__all__ = ["Graph", "Node", "cycles", "dependencies", "run_order", "waits"]


class Graph:
    """Immutable; `replaced` gives the next version."""

    __slots__ = (
        *(
            "_all",
            "_at",
            "_circular_ids",
            "_cycles",
            "_explicit",
            "_ids",
            "_loops",
            "_nodes",
            "_providers",
            "_read",
            "_readers",
        ),
        "__weakref__",
    )

    def __init__(self, ids: tuple[int, ...], nodes: dict[int, Node], providers: Providers) -> None:
        self._ids, self._nodes, self._providers = ids, nodes, providers
        self._loops = 0
        self._readers: frozenset[int] = frozenset()
        self._explicit = Closure(self._explicit_edges)
        self._read = Closure(self._read_edges)
        self._all = Closure(self._edges)
        self._at: dict[int, int] | None = None
        self._cycles: tuple[tuple[int, ...], ...] | None = None
        #: All elements of the groups of which `_cycles` has a path each, as bits; an edit may split a group.
        self._circular_ids = 0

    @classmethod
    def of(cls, nodes: Iterable[Node]) -> Graph:
        return cls._numbered(dict(enumerate(nodes)))

    @classmethod
    def _numbered(cls, nodes: dict[int, Node]) -> Graph:
        ids = tuple(nodes)
        graph = cls(ids, nodes, Providers.of(ids, nodes))
        graph._loops = sum(1 << i for i, node in nodes.items() if node.loops)
        graph._readers = frozenset(i for i, node in nodes.items() if node.reads_loop)
        return graph

    # -- questions, by index in document order ----------------------------------------------------

    def __len__(self) -> int:
        return len(self._ids)

    def node(self, index: int) -> Node:
        return self._nodes[self._ids[index]]

    def index(self, name: str) -> int | None:
        """The element that provides a name: its own, or that of an accumulated output."""
        found = self._providers.table.get(name)
        return None if found is None else self._index(found)

    def producer(self, variable: str) -> int | None:
        """The element that a variable waits for, None for one that comes from elsewhere."""
        found = self._producer(variable)
        return None if found is None else self._index(found)

    def targets(self, index: int) -> tuple[int, ...]:
        """All elements that `index` waits for directly."""
        return tuple(self._index(i) for i in self._edges(self._ids[index]))

    def third(self, index: int) -> int | None:
        """The loop that a step waits for only because it uses `loop.iteration` or `loop.output`:
        the nearest top-level loop above, if needs and references lead to no loop."""
        found = self._third(self._ids[index])
        return None if found is None else self._index(found)

    def dependencies(self, index: int) -> frozenset[int]:
        """Everything that has to be finished before `index` starts."""
        return frozenset(self._index(i) for i in bits(self._all.of(self._ids[index])))

    def marks(self, indexes: Iterable[int]) -> int:
        """A set of elements, for `count_needed`."""
        return sum(1 << self._ids[index] for index in indexes)

    def count_needed(self, index: int, among: int) -> int:
        """How many elements of a set run when `index` and all that it depends on do."""
        own = self._ids[index]
        return ((self._all.of(own) | 1 << own) & among).bit_count()

    def depends(self, index: int, on: int) -> bool:
        return self._reaches(self._all, index, on)

    def depends_explicitly(self, index: int, on: int) -> bool:
        """Whether `needs` of steps and the references of loops lead from `index` to `on` (WF304)."""
        return self._reaches(self._explicit, index, on)

    def loops_before(self, index: int) -> tuple[int, ...]:
        """The loops, of both kinds, that are finished before `index` starts."""
        own = self._ids[index]
        return tuple(sorted(self._index(i) for i in bits(self._all.of(own) & self._loops & ~(1 << own))))

    @property
    def cycles(self) -> tuple[tuple[int, ...], ...]:
        """One path for every group of elements that wait for one another; the first element is the
        highest in the document and is not repeated at the end."""
        if self._cycles is None:
            self._find_cycles(self._ids)
            assert self._cycles is not None
        return tuple(sorted(tuple(self._index(i) for i in path) for path in self._cycles))

    def order(self) -> tuple[int, ...]:
        """The order of a sequential run: of the elements that are ready the lower
        `execution_order`, then the higher place. What hangs in a cycle is left out."""
        waiting = {i: set(self.targets(i)) for i in range(len(self._ids))}
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

    # -- the next version -------------------------------------------------------------------------

    def replaced(
        self, start: int, removed: int, added: Sequence[Node], mentioned: Callable[[str], bool] = lambda name: True
    ) -> Graph:
        """The graph with `added` in the place of `removed` nodes. `mentioned` answers whether any
        node, old or new, waits for a name: if none does, names may come and go unnoticed."""
        gone = self._ids[start : start + removed]
        old = [self._nodes[i] for i in gone]
        if old == list(added):
            return self
        fresh = gone if len(added) == removed else self._fresh(len(added))
        providers = self._providers.replaced(old, zip(fresh, added, strict=True))
        if providers is None or (fresh and fresh[-1] > 64 + 2 * (len(self._ids) + len(added))):
            ids = (*self._ids[:start], *self._ids[start + removed :])
            listed = [*(self._nodes[i] for i in ids[:start]), *added, *(self._nodes[i] for i in ids[start:])]
            return Graph.of(listed)
        return self._next(start, gone, fresh, added, providers, mentioned)

    def _next(
        self,
        start: int,
        gone: tuple[int, ...],
        fresh: tuple[int, ...],
        added: Sequence[Node],
        providers: Providers,
        mentioned: Callable[[str], bool],
    ) -> Graph:
        nodes = self._nodes.copy()
        old = [nodes.pop(i) for i in gone]
        nodes.update(zip(fresh, added, strict=True))
        ids = self._ids if fresh is gone else (*self._ids[:start], *fresh, *self._ids[start + len(gone) :])
        graph = Graph(ids, nodes, providers)
        touched = sum(1 << i for i in {*gone, *fresh})
        graph._loops = self._loops & ~touched | sum(1 << i for i, node in zip(fresh, added, strict=True) if node.loops)
        graph._readers = self._readers - set(gone) | {
            i for i, node in zip(fresh, added, strict=True) if node.reads_loop
        }
        changed = {name for node in old for name in node.provides} ^ {name for node in added for name in node.provides}
        if not any(mentioned(name) for name in changed):
            graph._explicit.keep(self._explicit, touched)
            graph._read.keep(self._read, touched)
            if not graph._readers and not self._readers:
                graph._all.keep(self._all, touched)
        if self._cycles == () and not (self._readers or graph._readers) and _no_edge_is_new(old, added, mentioned):
            graph._cycles = ()
        elif self._cycles is not None:
            suspects = {*fresh, *graph._readers, *(i for i in bits(self._circular_ids) if i in nodes)}
            graph._find_cycles(suspects)
        return graph

    def _fresh(self, count: int) -> tuple[int, ...]:
        first = max(self._nodes, default=-1) + 1
        return tuple(range(first, first + count))

    # -- edges, by number -------------------------------------------------------------------------

    def _index(self, number: int) -> int:
        if self._at is None:
            self._at = dict(zip(self._ids, range(len(self._ids)), strict=True))
        return self._at[number]

    def _reaches(self, closure: Closure, index: int, on: int) -> bool:
        return bool(closure.of(self._ids[index]) >> self._ids[on] & 1)

    def _circular(self, number: int) -> bool:
        return bool(self._all.of(number) >> number & 1)

    def _rank(self, index: int) -> tuple[tuple[bool, int], int]:
        order = self.node(index).execution_order
        return (order is None, order or 0), index

    def _producer(self, variable: str) -> int | None:
        table = self._providers.table
        for name in producers(variable):
            found = table.get(name)
            if found is not None:
                return found
        return None

    def _edges(self, number: int) -> tuple[int, ...]:
        edges = self._read_edges(number)
        if not self._nodes[number].reads_loop:
            return edges
        third = self._third(number)
        return edges if third is None else (*edges, third)

    def _third(self, number: int) -> int | None:
        if not self._nodes[number].reads_loop or self._read.of(number) & self._loops:
            return None
        above = reversed(self._ids[: self._index(number)])
        return next((i for i in above if self._nodes[i].kind == "loop"), None)

    def _read_edges(self, number: int) -> tuple[int, ...]:
        node = self._nodes[number]
        found = [self._providers.table.get(name) for name in node.needs]
        found += [self._producer(name) for name in node.reads]
        return _others(found, number)

    def _explicit_edges(self, number: int) -> tuple[int, ...]:
        node = self._nodes[number]
        found = [self._providers.table.get(name) for name in node.needs]
        if node.loops:
            found += [self._producer(name) for name in node.reads]
        return _others(found, number)

    def _find_cycles(self, among: Iterable[int]) -> None:
        found: list[tuple[int, ...]] = []
        seen = 0
        for i in among:
            if not seen >> i & 1 and self._circular(i):
                group = self._group(i)
                seen |= group
                found.append(self._path(min(bits(group), key=self._index), group))
        self._cycles, self._circular_ids = tuple(found), seen

    def _group(self, number: int) -> int:
        """All elements that wait for `number` and that it waits for, itself included."""
        return sum(1 << i for i in bits(self._all.of(number)) if self._all.of(i) >> number & 1)

    def _path(self, start: int, group: int) -> tuple[int, ...]:
        """The shortest way from `start` back to itself inside its group."""
        came: dict[int, int] = {}
        front = [start]
        while front:
            ahead: list[int] = []
            for i in front:
                for target in self._edges(i):
                    if target == start:
                        return _way(came, start, i)
                    if group >> target & 1 and target not in came:
                        came[target] = i
                        ahead.append(target)
            front = ahead
        return (start,)


def _no_edge_is_new(old: Sequence[Node], added: Sequence[Node], mentioned: Callable[[str], bool]) -> bool:
    """Whether an edit, such as typing in a name, can only have taken edges away: then no circle comes of it."""
    if len(old) != len(added) or any(a.needs != b.needs or a.reads != b.reads for a, b in zip(old, added, strict=True)):
        return False
    known = {name for node in old for name in node.provides}
    return not any(mentioned(name) for node in added for name in node.provides if name not in known)


def _way(came: dict[int, int], start: int, end: int) -> tuple[int, ...]:
    way = [end]
    while way[-1] != start:
        way.append(came[way[-1]])
    return tuple(reversed(way))


def _others(found: Iterable[int | None], own: int) -> tuple[int, ...]:
    """Each target once, in order; an element that names itself is no edge (WF302, WF510)."""
    return tuple(dict.fromkeys(i for i in found if i is not None and i != own))


# -- the same for a workflow that is run ----------------------------------------------------------


def run_order(workflow: Workflow) -> tuple[Element, ...]:
    """The elements in the order of a sequential run (WB_050 to WB_057). What hangs in a cycle is
    missing: ask `cycles` first."""
    return tuple(workflow.elements[i] for i in _graph(workflow).order())


def _graph(workflow: Workflow) -> Graph:
    # Only who runs workflows needs their values, and building those classes is felt at start.
    from loop_ls.index.graph.workflow_nodes import nodes_of

    return Graph.of(nodes_of(workflow))


def dependencies(workflow: Workflow, name: str) -> frozenset[str]:
    """The names of everything that has to be finished before the step or loop `name` starts."""
    graph = _graph(workflow)
    index = graph.index(name)
    return frozenset() if index is None else frozenset(graph.node(i).name for i in graph.dependencies(index))


def waits(workflow: Workflow) -> dict[str, tuple[str, ...]]:
    """Of each element the names that it waits for directly, by `needs` or by what it uses."""
    graph = _graph(workflow)
    names = [graph.node(index).name for index in range(len(graph))]
    return {name: tuple(names[i] for i in graph.targets(index)) for index, name in enumerate(names)}


def cycles(workflow: Workflow) -> tuple[tuple[str, ...], ...]:
    """The names along every circle of elements that wait for one another (WB_059)."""
    graph = _graph(workflow)
    return tuple(tuple(graph.node(i).name for i in path) for path in graph.cycles)
