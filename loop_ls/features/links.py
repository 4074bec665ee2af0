"""Document links: called workflows, and files that `items` and `input_file` name.

Nothing here looks at the disk; `exists` may, so that no link leads nowhere.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator

from loop_ls.features.answers import DocumentLink
from loop_ls.features.language_support import support_of
from loop_ls.features.rename.occurrences import bare
from loop_ls.index.disk.uris import uri_of
from loop_ls.index.document import Document
from loop_ls.index.element import Element
from loop_ls.index.workspace import Workspace
from loop_ls.syntax.nodes import Scalar
from loop_ls.text.position import Position, Span

_SCHEME = "file://"
_DRIVE = re.compile(r"/?[A-Za-z]:[/\\]")


def links(
    workspace: Workspace, document: Document, exists: Callable[[str], bool] = lambda path: True
) -> tuple[DocumentLink, ...]:
    return support_of(document).links(workspace, document, exists)


def of_workflow(workspace: Workspace, document: Document, exists: Callable[[str], bool]) -> tuple[DocumentLink, ...]:
    found: list[DocumentLink] = []
    for element in document.elements:
        found += _of_reference(workspace, document, element)
        found += _of_files(workspace, document, element, exists)
    return tuple(found)


def _of_reference(workspace: Workspace, document: Document, element: Element) -> Iterator[DocumentLink]:
    reference = element.reference
    if reference is None or not reference.text:
        return
    callee = workspace.callee(document, reference)
    if callee is not None:
        span = bare(document, document.absolute(element.piece, reference.span))
        yield DocumentLink(span, callee.uri, f"Open {callee.path.rsplit('/', 1)[-1]}")


def _of_files(
    workspace: Workspace, document: Document, element: Element, exists: Callable[[str], bool]
) -> Iterator[DocumentLink]:
    for slot in element.slots:
        if slot.kind not in ("items", "input_file") or "{{" in slot.scalar.text:
            continue
        text = slot.scalar.text.strip()
        if slot.kind == "items" and not text.startswith(_SCHEME):
            continue
        path = next((one for one in _paths(workspace, document, text.removeprefix(_SCHEME)) if exists(one)), None)
        if path is not None:
            yield DocumentLink(_span(document, element, slot.scalar), uri_of(path), "Open the file")


def _paths(workspace: Workspace, document: Document, written: str) -> Iterator[str]:
    """A relative path counts from the folder of the workflow, then from the workspace folder (WF415)."""
    name = written.replace("\\", "/")
    if not name or name.startswith("/outputs/"):
        return
    if name.startswith("/") or _DRIVE.match(name):
        yield name
        return
    for folder in dict.fromkeys((posixpath.dirname(document.path), workspace.roots.workspace)):
        if folder.startswith("/") or _DRIVE.match(folder):
            yield posixpath.normpath(posixpath.join(folder, name))


def _span(document: Document, element: Element, scalar: Scalar) -> Span:
    span = bare(document, document.absolute(element.piece, scalar.span))
    if span.start.line == span.end.line:
        return span
    first = document.text.lines[span.start.line]
    return Span(span.start, Position(span.start.line, len(first)))
