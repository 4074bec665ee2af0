"""How many model calls a workflow or loop can cost, and who calls whom in a circle.

Counts follow 4.5: iterations x (calls of the callee + 1 for the judge where one is asked), failures and retries aside.
A circle has no largest number.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from loop_ls.formats.workflow.local_condition import read_local
from loop_ls.index.document import Document
from loop_ls.index.element import Element
from loop_ls.index.workspace import Workspace

#: Calls nest no deeper than this at run time either.
DEPTH = 16


class Calls(NamedTuple):
    """The fewest and the most model calls. `most` is None where nothing bounds it, or where a called
    workflow or a limit is missing."""

    least: int
    most: int | None

    def plus(self, other: Calls) -> Calls:
        both = self.most is not None and other.most is not None
        return Calls(self.least + other.least, (self.most or 0) + (other.most or 0) if both else None)


NONE = Calls(0, 0)
UNKNOWN = Calls(0, None)


def workflow_calls(workspace: Workspace, document: Document) -> Calls:
    """What one run of a workflow costs."""
    return _Counter(workspace).workflow(document, ())


def element_calls(workspace: Workspace, document: Document, element: Element) -> Calls:
    """What one step or loop costs, all its iterations included."""
    return _Counter(workspace).element(document, element, (document.uri,))


class CallTable:
    """What each element of a workflow costs, counted once for everybody who asks. Elements are meant by their
    positions."""

    def __init__(self, workspace: Workspace, document: Document) -> None:
        counter, path = _Counter(workspace), (document.uri,)
        self._graph = document.graph
        self._each = [counter.element(document, one, path) for one in document.elements]
        alike: dict[Calls, list[int]] = {}
        for position, calls in enumerate(self._each):
            alike.setdefault(calls, []).append(position)
        #: few costs are different, so that sums need no look at each element
        self._alike = {calls: self._graph.marks(positions) for calls, positions in alike.items()}

    def of(self, position: int) -> Calls:
        """One step or loop, all its iterations included."""
        return self._each[position]

    def with_dependencies(self, position: int) -> Calls:
        """A step or loop with everything that has to be finished before."""
        needed = [(calls, self._graph.count_needed(position, marks)) for calls, marks in self._alike.items()]
        return _sum((calls, number) for calls, number in needed if number)

    def whole(self) -> Calls:
        """All elements, once."""
        return _sum((calls, marks.bit_count()) for calls, marks in self._alike.items())


def _sum(counted: Iterable[tuple[Calls, int]]) -> Calls:
    total = NONE
    for calls, number in counted:
        total = total.plus(Calls(calls.least * number, None if calls.most is None else calls.most * number))
    return total


def asks_judge(workspace: Workspace, element: Element) -> bool:
    """Whether a model is asked after each iteration: not in iterate loops, and not where the settings let the engine
    look for the named text itself (`judge.local`)."""
    if element.loop is None or element.loop_mode != "refine":
        return False
    return not (workspace.settings.judge_locally and read_local(element.loop.text("until") or "") is not None)


def most_iterations(workspace: Workspace, element: Element) -> int | None:
    """The limit of a loop as it is written, or that of its project where it is lower; None where none is written."""
    limit = element.loop.integer("max_iterations") if element.loop is not None else None
    if limit is None or limit < 1:
        return None
    return workspace.settings.limits.iterations(limit)


def innermost_runs(workspace: Workspace, document: Document, element: Element) -> int | None:
    """How often the innermost workflow of nested refine loops runs at most: outer limit x inner limit
    (WF710). None for anything else, and in a circle."""
    if element.loop_mode != "refine":
        return None
    return _Counter(workspace).runs(document, element, (document.uri,))


class _Counter:
    """Remembers what it counted: a workflow may be called from many places."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._known: dict[str, Calls] = {}
        self._inner: dict[str, int | None] = {}

    def workflow(self, document: Document, path: tuple[str, ...]) -> Calls:
        if document.uri in path or len(path) > DEPTH:
            return UNKNOWN
        if document.uri not in self._known:
            total = NONE
            for element in document.elements:
                total = total.plus(self.element(document, element, (*path, document.uri)))
            self._known[document.uri] = total
        return self._known[document.uri]

    def element(self, document: Document, element: Element, path: tuple[str, ...]) -> Calls:
        found = self._whole(document, element, path)
        return Calls(0, found.most) if element.block.has("if") else found

    def _whole(self, document: Document, element: Element, path: tuple[str, ...]) -> Calls:
        match element.mode:
            case "run" | "embeddings":
                return Calls(1, 1)
            case "consensus":
                consensus = element.block.block("consensus")
                asked = len(consensus.blocks("executions")) if consensus is not None else 0
                return Calls(asked, asked)
            case "template":
                return self._callee(document, element, path)
            case "loop":
                return self._loop(document, element, path)
            case _:
                return NONE

    def _loop(self, document: Document, element: Element, path: tuple[str, ...]) -> Calls:
        callee = self._callee(document, element, path)
        limit = most_iterations(self._workspace, element)
        judge = 1 if asks_judge(self._workspace, element) else 0
        most = None if limit is None or callee.most is None else limit * (callee.most + judge)
        least = callee.least + judge if element.loop_mode == "refine" else 0  # there may be no items
        return Calls(least, most)

    def _callee(self, document: Document, element: Element, path: tuple[str, ...]) -> Calls:
        callee = self._workspace.callee(document, element.reference)
        return UNKNOWN if callee is None else self.workflow(callee, path)

    def runs(self, document: Document, element: Element, path: tuple[str, ...]) -> int | None:
        limit = most_iterations(self._workspace, element)
        callee = self._workspace.callee(document, element.reference)
        if limit is None or (callee is not None and callee.uri in path) or len(path) > DEPTH:
            return None
        inner = self._inner_runs(callee, path) if callee is not None else 1
        return None if inner is None else limit * inner

    def _inner_runs(self, document: Document, path: tuple[str, ...]) -> int | None:
        if document.uri not in self._inner:
            self._inner[document.uri] = self._find_inner_runs(document, path)
        return self._inner[document.uri]

    def _find_inner_runs(self, document: Document, path: tuple[str, ...]) -> int | None:
        """The largest product among the loops of a workflow, reached through templates too; 1 without."""
        most = 1
        inside = (*path, document.uri)
        for element in document.calling:
            if element.loop_mode == "refine":
                found = self.runs(document, element, inside)
            elif element.mode == "template":
                callee = self._workspace.callee(document, element.reference)
                circle = callee is not None and callee.uri in inside
                found = None if circle or len(inside) > DEPTH else 1
                if callee is not None and found is not None:
                    found = self._inner_runs(callee, inside)
            else:
                continue
            if found is None:
                return None
            most = max(most, found)
        return most


class Circle(NamedTuple):
    """A way from a workflow back to itself: the document and element of every call, in order.
    `guarded`: a step on it has `if`, so that it may end."""

    calls: tuple[tuple[Document, Element], ...]

    @property
    def guarded(self) -> bool:
        return any(element.kind == "step" and element.block.has("if") for _, element in self.calls)


def circle_through(workspace: Workspace, document: Document, element: Element) -> Circle | None:
    """The shortest way on which a call leads back to the workflow that makes it (WF604); one without
    any `if` before one with."""
    for only_open in (True, False):
        found = _way_back(workspace, document, element, only_open)
        if found is not None:
            return found
    return None


def _way_back(workspace: Workspace, document: Document, element: Element, only_open: bool) -> Circle | None:
    def passes(one: Element) -> bool:
        return not only_open or one.kind == "loop" or not one.block.has("if")

    first = workspace.callee(document, element.reference)
    if first is None or not passes(element):
        return None
    front: list[tuple[Document, tuple[tuple[Document, Element], ...]]] = [(first, ((document, element),))]
    seen = {first.uri}
    while front:
        ahead = []
        for at, way in front:
            if at.uri == document.uri:
                return Circle(way)
            for call in at.calling:
                callee = workspace.callee(at, call.reference)
                if callee is None or not passes(call) or (callee.uri in seen and callee.uri != document.uri):
                    continue
                seen.add(callee.uri)
                ahead.append((callee, (*way, (at, call))))
        front = ahead
    return None
