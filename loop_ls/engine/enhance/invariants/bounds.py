"""Worst-case number of model calls of a workflow, for comparing a plan with round 1."""

from __future__ import annotations

from loop_ls.index.document import Document
from loop_ls.index.effective import effective
from loop_ls.index.element import Element
from loop_ls.index.workspace import Workspace


def worst_calls(workspace: Workspace, document: Document, within: frozenset[str] = frozenset()) -> int:
    """With every retry and every iteration, tool calls aside. A workflow that calls itself counts once."""
    if document.uri in within:
        return 0
    inside = within | {document.uri}
    return sum(_calls(workspace, document, element, inside) for element in document.elements)


def _calls(workspace: Workspace, document: Document, element: Element, within: frozenset[str]) -> int:
    tries = 1 + effective(document, element).max_retries.value
    callee = workspace.callee(document, element.reference)
    inner = 1 if callee is None else worst_calls(workspace, callee, within)
    loop = element.loop
    if loop is not None:
        judged = 1 if loop.text("until") else 0
        return int((loop.integer("max_iterations") or 1) * (inner * tries + judged))
    consensus = element.block.block("consensus")
    return tries * (inner if consensus is None else max(1, len(consensus.blocks("executions"))))
