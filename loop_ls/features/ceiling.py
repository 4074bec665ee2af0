"""The most model calls that an element, or a whole workflow, can make when nothing fails (4.5, 4.11).

A refine loop costs its iterations times (calls of its callee + one question to the judge). None where
it cannot be known: a callee that does not exist, a missing limit, a circle. Retries and rounds of tools
come on top and are not counted.
"""

from __future__ import annotations

from loop_ls.formats.block import Block
from loop_ls.index.document import Document
from loop_ls.index.element import Element
from loop_ls.index.workspace import Workspace

_DEPTH = 16


class Ceiling:
    """Answers for one snapshot of a workspace; every workflow is counted once."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._known: dict[str, int | None] = {}
        self._asked: set[str] = set()

    def of_workflow(self, document: Document) -> int | None:
        uri = document.uri
        if uri in self._known:
            return self._known[uri]
        if uri in self._asked or len(self._asked) >= _DEPTH:
            return None
        self._asked.add(uri)
        total: int | None = 0
        for element in document.elements:
            own = self.of_element(document, element)
            if own is None:
                total = None
                break
            total = (total or 0) + own
        self._asked.discard(uri)
        self._known[uri] = total
        return total

    def of_element(self, document: Document, element: Element) -> int | None:
        if element.loop is not None:
            return self.of_loop(document, element)
        match element.mode:
            case "run":
                return 1
            case "consensus":
                consensus = element.block.block("consensus")
                return len(consensus.blocks("executions")) if consensus is not None else 0
            case "embeddings":
                return 1
            case "template":
                return self._callee(document, element)
            case _:
                return 0

    def of_loop(self, document: Document, element: Element) -> int | None:
        limit = iterations(element.loop)
        callee = self._callee(document, element)
        if limit is None or callee is None:
            return None
        return limit * (callee + (1 if element.loop_mode == "refine" else 0))

    def _callee(self, document: Document, element: Element) -> int | None:
        callee = self._workspace.callee(document, element.reference)
        return None if callee is None else self.of_workflow(callee)


def iterations(loop: Block | None) -> int | None:
    """The written limit, where it is one."""
    limit = loop.integer("max_iterations") if loop is not None else None
    return limit if limit is not None and limit > 0 else None
