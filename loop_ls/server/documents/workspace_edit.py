"""Edits as a workspace edit: versioned where the client knows versions, plain changes where not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from loop_ls.server.documents.position_mapping import Places
from loop_ls.text.lines import Text

if TYPE_CHECKING:
    from loop_ls.features.answers import Edits
    from loop_ls.server.language_server import LoopServer

Json = dict[str, Any]


#: How edits that a person has to confirm are announced.
_REVIEW = {"label": "The same word in prompts", "needsConfirmation": True}


def workspace_edit(server: LoopServer, edits: Edits, review: Edits | None = None, creates: str = "") -> Json | None:
    """None when a document that is to be edited is not known any more. Edits under `review` are shown to
    be confirmed one by one, by clients that can; others do not get them. A file that the edit `creates` is
    empty before; clients that cannot be told to create it begin it by editing it."""
    review = review if review and server.client.document_changes and server.client.confirms_edits else {}
    session = server.session
    changes: list[tuple[str, int | None, list[Json]]] = []
    for uri in {**edits, **review}:
        places = Places(Text.of(""), session.encoding) if uri == creates else session.places_of(uri)
        if places is None:
            return None
        opened = session.find(uri)
        version = None if opened is None else opened.document.version
        written = [places.edit(edit.span, edit.text) for edit in edits.get(uri, ())]
        written += [{**places.edit(edit.span, edit.text), "annotationId": "review"} for edit in review.get(uri, ())]
        changes.append((session.spelled(uri), version, written))
    if not server.client.document_changes:
        return {"changes": {uri: written for uri, _, written in changes}}
    found: Json = {
        "documentChanges": [
            {"textDocument": {"uri": uri, "version": version}, "edits": written} for uri, version, written in changes
        ]
    }
    if creates and server.client.creates_files:
        found["documentChanges"].insert(0, {"kind": "create", "uri": creates})
    return {**found, "changeAnnotations": {"review": _REVIEW}} if review else found
