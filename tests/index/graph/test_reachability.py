"""Reachability, compared with the plain way to find it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from loop_ls.index.graph.reachability import Closure, bits

Edges = dict[int, tuple[int, ...]]
EDGES = st.dictionaries(st.integers(0, 7), st.lists(st.integers(0, 7), max_size=4).map(tuple))


def plainly(edges: Edges, start: int) -> set[int]:
    seen: set[int] = set()
    waiting = list(edges.get(start, ()))
    while waiting:
        node = waiting.pop()
        if node not in seen:
            seen.add(node)
            waiting += edges.get(node, ())
    return seen


@given(EDGES, st.permutations(range(8)))
def test_what_can_be_reached(edges: Edges, asked: list[int]) -> None:
    closure = Closure(lambda node: edges.get(node, ()))
    assert {node: set(bits(closure.of(node))) for node in asked} == {node: plainly(edges, node) for node in asked}


@given(EDGES, st.lists(st.tuples(st.integers(0, 7), st.lists(st.integers(0, 7), max_size=3).map(tuple)), max_size=5))
def test_what_is_kept_after_a_change_is_still_right(edges: Edges, changes: list[tuple[int, tuple[int, ...]]]) -> None:
    now = dict(edges)
    closure = Closure(lambda node: edges.get(node, ()))
    for node in range(8):
        closure.of(node)
    for node, targets in changes:
        after = {**now, node: targets}
        fresh = Closure(lambda node, after=after: after.get(node, ()))  # type: ignore[misc]
        fresh.keep(closure, 1 << node)
        assert {n: set(bits(fresh.of(n))) for n in range(8)} == {n: plainly(after, n) for n in range(8)}
        now, closure = after, fresh


def test_members_of_a_set() -> None:
    assert list(bits(0b1010010)) == [1, 4, 6]
    assert list(bits(0)) == []
