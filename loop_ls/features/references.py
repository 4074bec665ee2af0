"""References: every place where a step, loop, constant, workflow or parameter is named, over files."""

from __future__ import annotations

from loop_ls.features.anchors import anchor_at
from loop_ls.features.answers import Location
from loop_ls.features.language_support import support_of
from loop_ls.features.rename.declared_checks import places_beside
from loop_ls.features.rename.occurrences import Kind, Role, named_at, occurrences
from loop_ls.index.document import Document
from loop_ls.index.workspace import Workspace
from loop_ls.text.position import Position


def references(
    workspace: Workspace, document: Document, at: Position, declaration: bool = True
) -> tuple[Location, ...]:
    """`declaration` tells whether the definition itself counts. Empty where nothing is named."""
    if (anchor := anchor_at(document, at)) is not None:
        own = (anchor.at,) if declaration and anchor.at is not None else ()
        return tuple(Location(document.uri, span) for span in (*own, *anchor.aliases))
    return support_of(document).references(workspace, document, at, declaration)


def in_workflow(workspace: Workspace, document: Document, at: Position, declaration: bool) -> tuple[Location, ...]:
    named = named_at(workspace, document, at)
    if named is None:
        return ()
    of = named[0]
    found = (one for one in occurrences(workspace, of) if declaration or one.role is not Role.DEFINITION)
    own = tuple(Location(one.document.uri, one.span) for one in found)
    if of.kind is not Kind.ELEMENT:
        return own
    return own + tuple(Location(uri, span) for uri, span in places_beside(workspace, of.document, of.name))
