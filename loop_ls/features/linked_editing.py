"""Linked editing: the name of a step or loop and its uses in the same file, typed over together."""

from __future__ import annotations

from loop_ls.features.language_support import support_of
from loop_ls.features.rename.occurrences import Kind, named_at, occurrences
from loop_ls.index.document import Document
from loop_ls.index.workspace import Workspace
from loop_ls.text.position import Position, Span

#: What a name may become while it is typed over.
PATTERN = r"[^\W\d][\w-]*"

_KINDS = (Kind.ELEMENT, Kind.COLLECTED, Kind.CONSTANT)


def linked(workspace: Workspace, document: Document, at: Position) -> tuple[Span, ...]:
    """All places of the name, or none where it is also written in other files, or defined twice."""
    return support_of(document).linked(workspace, document, at)


def in_workflow(workspace: Workspace, document: Document, at: Position) -> tuple[Span, ...]:
    found = named_at(workspace, document, at)
    if found is None or found[0].kind not in _KINDS:
        return ()
    named = found[0]
    if len(document.names.get(named.name, ())) > 1:
        return ()
    places = [one for one in occurrences(workspace, named) if one.document.uri == document.uri]
    spans = tuple(sorted(one.span for one in places))
    same = all(document.text.slice(span) == named.name for span in spans)
    return spans if same and len(spans) > 1 else ()
