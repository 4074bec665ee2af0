"""Files that decide: what a check, or a step whose result an `if` reads, calls, in whatever depth.

A check that calls another workflow gives the verdict of that one: whoever edits the file edits the check.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from loop_ls.engine.enhance.invariants.shape import source_of
from loop_ls.engine.enhance.invariants.verifiers import Verifiers
from loop_ls.index.document import Document
from loop_ls.index.workspace import Workspace


class Deciding(NamedTuple):
    """`file` is called for `element`, which decides."""

    file: Document
    element: str


def deciding_files(workspace: Workspace, document: Document, checks: Iterable[str]) -> tuple[Deciding, ...]:
    """Those behind the checks and guards of a workflow, and of all that it calls. `checks` are its own ones."""
    found = list[Deciding]()
    for one in (document, *_called(workspace, document)):
        own = checks if one.uri == document.uri else Verifiers().seen(one).checked
        for name in dict.fromkeys((*own, *sorted(guard_sources(one)))):
            found += [Deciding(file, name) for file in _called(workspace, one, name)]
    return tuple(found)


def guard_sources(document: Document) -> frozenset[str]:
    """Elements whose results an `if` reads."""
    read = (use.name for element in document.elements for use in element.uses if use.slot.kind == "if")
    sources = (source for name in read for source in source_of(document, name))
    return frozenset(name for name in sources if document.element(name) is not None)


def _called(workspace: Workspace, document: Document, name: str | None = None) -> Iterator[Document]:
    """Each file that a workflow, or one element of it, leads to."""
    seen, waiting = {document.uri}, [(document, name)]
    while waiting:
        one, only = waiting.pop()
        for element in one.calling:
            callee = workspace.callee(one, element.reference)
            if callee is None or callee.uri in seen or only not in (None, element.name):
                continue
            seen.add(callee.uri)
            waiting.append((callee, None))
            yield callee
