"""Everything in the client's folders that can be started, as JSON: for its view of tests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from loop_ls.features.runs.runnable import Runnable
from loop_ls.features.runs.runnables import runnables as of_document

if TYPE_CHECKING:
    from loop_ls.index.document import Document
    from loop_ls.server.documents.position_mapping import PositionMapping
    from loop_ls.server.documents.session import Session

Json = dict[str, Any]


def runnables(session: Session) -> list[Json]:
    """`{uri, kind, name, label, range, judged, inner}` of each, by file."""
    found: list[Json] = []
    for document in _documents(session):
        places = session.places(document)
        found += [{"uri": session.spelled(document.uri), **_written(places, one)} for one in of_document(document)]
    return sorted(found, key=lambda one: (one["uri"], one["range"]["start"]["line"]))


def _documents(session: Session) -> Iterator[Document]:
    """Each once, as the editor shows it where it is open."""
    seen: set[str] = set()
    for folder in session.all_folders():
        for document in folder.documents():
            if document.uri not in seen:
                seen.add(document.uri)
                yield document


def _written(places: PositionMapping, one: Runnable) -> Json:
    row: Json = {"kind": one.kind, "name": one.name, "label": one.label}
    row |= {"range": places.range(one.span), "judged": places.range(one.judged)}
    return row | {"inner": [_written(places, part) for part in one.inner]}
