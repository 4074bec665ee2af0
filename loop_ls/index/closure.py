"""What can be reached from a node, for all nodes that are asked for, circles included.

One pass of Tarjan's search for groups that reach one another; sets are bits of whole numbers.
Answers are kept, and can be taken over by the next version of a graph.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator


class Closure:
    """Reachability over `edges`. A node is in its own closure only if it lies on a circle."""

    __slots__ = ("_edges", "_known")

    def __init__(self, edges: Callable[[int], tuple[int, ...]]) -> None:
        self._edges = edges
        self._known: dict[int, int] = {}

    def of(self, node: int) -> int:
        """The set of nodes that can be reached from `node`."""
        known = self._known.get(node)
        if known is None:
            _Search(self._edges, self._known).run(node)
            known = self._known[node]
        return known

    def keep(self, other: Closure, touched: int) -> None:
        """Take over what `other` knows about nodes that are not, and do not reach, the `touched` ones."""
        self._known = {node: reach for node, reach in other._known.items() if not (reach | 1 << node) & touched}


class _Search:
    """One run of the search. Written without recursion: a chain may be thousands of nodes long."""

    def __init__(self, edges: Callable[[int], tuple[int, ...]], known: dict[int, int]) -> None:
        self._edges, self._known = edges, known
        self._number: dict[int, int] = {}
        self._low: dict[int, int] = {}
        self._open: list[int] = []  # nodes whose group is not complete

    def run(self, root: int) -> None:
        path: list[tuple[int, Iterator[int]]] = [self._enter(root)]
        while path:
            node, ahead = path[-1]
            for target in ahead:
                if target in self._known:
                    continue
                if target not in self._number:
                    path.append(self._enter(target))
                    break
                self._low[node] = min(self._low[node], self._number[target])
            else:
                path.pop()
                if path:
                    parent = path[-1][0]
                    self._low[parent] = min(self._low[parent], self._low[node])
                if self._low[node] == self._number[node]:
                    self._close(node)

    def _enter(self, node: int) -> tuple[int, Iterator[int]]:
        self._number[node] = self._low[node] = len(self._number)
        self._open.append(node)
        return node, iter(self._edges(node))

    def _close(self, first: int) -> None:
        """`first` and everything opened after it reach one another: they share one set."""
        group = [self._open.pop()]
        while group[-1] != first:
            group.append(self._open.pop())
        inside = set(group)
        reach = 0
        for node in group:
            for target in self._edges(node):
                reach |= 1 << target
                if target not in inside:
                    reach |= self._known[target]
        for node in group:
            self._known[node] = reach


def bits(members: int) -> Iterator[int]:
    """The members of a set, lowest first."""
    while members:
        lowest = members & -members
        yield lowest.bit_length() - 1
        members ^= lowest
