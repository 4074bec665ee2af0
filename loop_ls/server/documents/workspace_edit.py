"""Edits as a workspace edit: versioned where the client knows versions, plain changes where not."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Protocol, TypeVar

from pygls.exceptions import JsonRpcContentModified

from loop_ls.server.documents.position_mapping import PositionMapping
from loop_ls.text.json_value import JsonObject
from loop_ls.text.lines import Text

if TYPE_CHECKING:
    from loop_ls.features.answers import Edits
    from loop_ls.server.capabilities import ClientFacts
    from loop_ls.server.documents.session import Session


T = TypeVar("T")
#: How often edits are made anew for files that changed meanwhile.
_TRIES = 3
#: How edits that a person has to confirm are announced.
_REVIEW: JsonObject = {"label": "The same word in prompts", "needsConfirmation": True}


class ChangePublisher(Protocol):
    """Publishes what changed by files that were read again."""

    def publish_affected_soon(self) -> None: ...


def up_to_date(
    session: Session, publisher: ChangePublisher, make: Callable[[], T], edits_of: Callable[[T], Iterable[str]]
) -> T:
    """What `make` makes of files as they are on the disk: `edits_of` names those that it edits. Those that nobody has
    open are compared with what is known of them, and where one differs it is made again.

    Raises JsonRpcContentModified where they change faster than that."""
    for _ in range(_TRIES):
        made = make()
        stale = [uri for uri in edits_of(made) if session.reread(uri)]
        if not stale:
            return made
        publisher.publish_affected_soon()
    raise JsonRpcContentModified("the files that are to be edited are being changed by another program")


def workspace_edit(
    session: Session, client: ClientFacts, edits: Edits, review: Edits | None = None, creates: str = ""
) -> JsonObject | None:
    """None when a document that is to be edited is not known any more. Edits under `review` are shown to
    be confirmed one by one, by clients that can; others do not get them. A file that the edit `creates` is
    empty before; clients that cannot be told to create it begin it by editing it."""
    review = review if review and client.document_changes and client.confirms_edits else {}
    changes: list[tuple[str, int | None, list[JsonObject]]] = []
    for uri in {**edits, **review}:
        places = PositionMapping(Text.of(""), session.encoding) if uri == creates else session.places_of(uri)
        if places is None:
            return None
        opened = session.find(uri)
        version = None if opened is None else opened.document.version
        written = [places.edit(edit.span, edit.text) for edit in edits.get(uri, ())]
        written += [{**places.edit(edit.span, edit.text), "annotationId": "review"} for edit in review.get(uri, ())]
        changes.append((session.spelled(uri), version, written))
    if not client.document_changes:
        return {"changes": {uri: written for uri, _, written in changes}}
    edited: list[JsonObject] = [
        {"textDocument": {"uri": uri, "version": version}, "edits": written} for uri, version, written in changes
    ]
    first: list[JsonObject] = [{"kind": "create", "uri": creates}] if creates and client.creates_files else []
    found: JsonObject = {"documentChanges": [*first, *edited]}
    return {**found, "changeAnnotations": {"review": _REVIEW}} if review else found
