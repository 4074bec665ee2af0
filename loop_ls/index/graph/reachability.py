"""What can be reached from a node, for all nodes that are asked for, circles included.

One pass of Tarjan's search for groups that reach one another; sets are bits of whole numbers.
Answers are kept, and the next version of a graph takes over those that an edit did not touch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import MethodType
from weakref import WeakMethod

#: So many answers of its own a version may pass on one by one; more become the common ground.
FEW = 128


class Closure:
    """Reachability over `edges`. A node is in its own closure only if it lies on a circle.

    A method of the owner is held weakly: else owner and closure would hold one another, and with them
    every version of a document until the garbage collector comes round."""

    __slots__ = ("_base", "_edges", "_known", "_touched")

    def __init__(self, edges: Callable[[int], tuple[int, ...]]) -> None:
        self._edges = WeakMethod(edges) if isinstance(edges, MethodType) else lambda: edges
        self._known: dict[int, int] = {}
        self._base: dict[int, int] = {}  # answers of earlier versions
        self._touched = 0  # nodes that changed since: what reaches them is known no more

    def of(self, node: int) -> int:
        """The set of nodes that can be reached from `node`."""
        known = self.known(node)
        if known is None:
            edges = self._edges()
            assert edges is not None, "a closure is asked by its owner"
            _Search(edges, self.known, self._known).run(node)
            known = self._known[node]
        return known

    def known(self, node: int) -> int | None:
        """The answer if it was found already, in this version or an earlier one."""
        found = self._known.get(node)
        if found is None:
            found = self._base.get(node)
            if found is not None and (found | 1 << node) & self._touched:
                return None
        return found

    def keep(self, other: Closure, touched: int) -> None:
        """Take over what `other` knows about nodes that are not, and do not reach, the `touched` ones."""
        own = _untouched(other._known, touched)
        if len(own) <= FEW:
            self._known, self._base, self._touched = own, other._base, other._touched | touched
        else:
            self._known, self._base = {}, _untouched(other._base, other._touched | touched) | own


def _untouched(known: dict[int, int], touched: int) -> dict[int, int]:
    return {node: reach for node, reach in known.items() if not (reach | 1 << node) & touched}


class _Search:
    """One run of the search. Written without recursion: a chain may be thousands of nodes long."""

    def __init__(
        self,
        edges: Callable[[int], tuple[int, ...]],
        known: Callable[[int], int | None],
        found: dict[int, int],
    ) -> None:
        self._edges, self._known, self._found = edges, known, found
        self._number: dict[int, int] = {}
        self._low: dict[int, int] = {}
        self._open: list[int] = []  # nodes whose group is not complete
        self._reach: dict[int, int] = {}  # what their edges lead to, groups that are complete included

    def run(self, root: int) -> None:
        path: list[tuple[int, Iterator[int]]] = [self._enter(root)]
        while path:
            node, ahead = path[-1]
            for target in ahead:
                self._reach[node] |= 1 << target
                number = self._number.get(target)
                if number is None:
                    known = self._known(target)
                    if known is None:
                        path.append(self._enter(target))
                        break
                    self._reach[node] |= known
                elif target in self._reach:
                    self._low[node] = min(self._low[node], number)
                else:
                    self._reach[node] |= self._found[target]
            else:
                path.pop()
                self._leave(node, path[-1][0] if path else None)

    def _enter(self, node: int) -> tuple[int, Iterator[int]]:
        self._number[node] = self._low[node] = len(self._number)
        self._reach[node] = 0
        self._open.append(node)
        return node, iter(self._edges(node))

    def _leave(self, node: int, parent: int | None) -> None:
        """All edges of `node` are followed. What opened its group closes it: its members reach one
        another, so they share one set."""
        if self._low[node] == self._number[node]:
            group = [self._open.pop()]
            while group[-1] != node:
                group.append(self._open.pop())
            reach = 0
            for member in group:
                reach |= self._reach.pop(member)
            for member in group:
                self._found[member] = reach
            if parent is not None:
                self._reach[parent] |= reach
        elif parent is not None:
            self._low[parent] = min(self._low[parent], self._low[node])


def bits(members: int) -> Iterator[int]:
    """The members of a set, lowest first."""
    while members:
        lowest = members & -members
        yield lowest.bit_length() - 1
        members ^= lowest
