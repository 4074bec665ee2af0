"""What of a document can be started, with its place and the line on which it is judged: for views that list it.

Workflows with their loops, role loops, assistants whose loop is switched on. Nothing here knows a protocol.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from loop_ls.features.language_support import support_of
from loop_ls.features.runs import assistant_findings, role_loop_findings
from loop_ls.features.runs.run_findings import verdict_place
from loop_ls.features.runs.runnable import Runnable
from loop_ls.index.document import Document


def runnables(document: Document) -> Iterable[Runnable]:
    return support_of(document).runnables(document)


def workflow_runnables(document: Document) -> Iterator[Runnable]:
    top = document.head.get("name") or document.head.get("$schema")
    if top is None or not document.elements:
        return
    span = document.absolute(top.piece, top.entry.key.span)
    named = document.head.get("name")
    label = str((named.field.value if named is not None and named.field is not None else None) or "workflow")
    inner = tuple(
        Runnable(
            "loop" if element.kind == "loop" else "step",
            element.name,
            element.name,
            document.absolute(element.piece, element.label_span),
            verdict_place(document, element),
        )
        for element in document.elements
        if element.loop is not None and element.name
    )
    yield Runnable("workflow", label, label, span, span, inner)


def role_loop_runnables(document: Document) -> Iterator[Runnable]:
    loop = document.whole.role_loop
    name = loop.parts.get("name")
    if name is None or not loop.name or not loop.stages:
        return
    span = role_loop_findings.name_place(document, name)
    yield Runnable("definition", loop.name, loop.name, span, role_loop_findings.verdict_place(document, name))


def assistant_runnables(document: Document) -> Iterator[Runnable]:
    for one in document.whole.assistants:
        name = one.get("name")
        if name is None or not one.enabled:
            continue
        span = assistant_findings.name_place(document, name)
        judged = assistant_findings.verdict_place(document, one) or span
        yield Runnable("assistant", one.key, one.name, span, judged)
