"""Highlight: the places of this file where the thing under the cursor is written, by reading and writing."""

from __future__ import annotations

from loop_ls.features.anchors import anchor_at
from loop_ls.features.answers import Highlight
from loop_ls.features.language_support import support_of
from loop_ls.features.rename.occurrences import Role, named_at, occurrences
from loop_ls.index.document import Document
from loop_ls.index.workspace import Workspace
from loop_ls.text.position import Position


def highlight(workspace: Workspace, document: Document, at: Position) -> tuple[Highlight, ...]:
    if (anchor := anchor_at(document, at)) is not None:
        written = (Highlight(anchor.at, True),) if anchor.at is not None else ()
        return (*written, *(Highlight(alias) for alias in anchor.aliases))
    return support_of(document).highlight(workspace, document, at)


def in_workflow(workspace: Workspace, document: Document, at: Position) -> tuple[Highlight, ...]:
    found = named_at(workspace, document, at)
    if found is None:
        return ()
    return tuple(
        Highlight(one.span, one.role in (Role.DEFINITION, Role.WRITE))
        for one in occurrences(workspace, found[0])
        if one.document.uri == document.uri
    )
