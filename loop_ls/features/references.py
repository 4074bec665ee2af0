"""References: every place where a step, loop, constant, workflow or parameter is named, over files."""

from __future__ import annotations

from loop_ls.features.naming import Role, named_at, occurrences
from loop_ls.features.values import Location
from loop_ls.index.document import Document
from loop_ls.index.workspace import Workspace
from loop_ls.text.position import Position


def references(
    workspace: Workspace, document: Document, at: Position, declaration: bool = True
) -> tuple[Location, ...]:
    """`declaration` tells whether the definition itself counts. Empty where nothing is named."""
    if document.format == "role_loop":
        from loop_ls.features import role_loop_names

        if found := role_loop_names.references(document, at, declaration):
            return found
    if document.format in ("role_loop", "settings"):
        from loop_ls.features import role_names

        return role_names.references(workspace, document, at, declaration)
    named = named_at(workspace, document, at)
    if named is None:
        return ()
    return tuple(
        Location(one.document.uri, one.span)
        for one in occurrences(workspace, named[0])
        if declaration or one.role is not Role.DEFINITION
    )
