"""Edits as a workspace edit: versioned where the client knows versions, plain changes where not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from loop_ls.features.values import Edits
    from loop_ls.server.language_server import LoopServer

Json = dict[str, Any]


def workspace_edit(server: LoopServer, edits: Edits) -> Json | None:
    """None when a document that is to be edited is not known any more."""
    session = server.session
    changes: list[tuple[str, int | None, list[Json]]] = []
    for uri, parts in edits.items():
        places = session.places_of(uri)
        if places is None:
            return None
        opened = session.find(uri)
        version = None if opened is None else opened.document.version
        written = [{"range": places.range(edit.span), "newText": edit.text} for edit in parts]
        changes.append((session.spelled(uri), version, written))
    if not server.client.document_changes:
        return {"changes": {uri: written for uri, _, written in changes}}
    return {
        "documentChanges": [
            {"textDocument": {"uri": uri, "version": version}, "edits": written} for uri, version, written in changes
        ]
    }
