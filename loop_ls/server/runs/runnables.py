"""Everything in the client's folders that can be started, as JSON: for its view of tests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from loop_ls.features.runs.runnable import Runnable
from loop_ls.features.runs.runnables import runnables as of_document
from loop_ls.text.json_value import JsonObject

if TYPE_CHECKING:
    from loop_ls.index.document import Document
    from loop_ls.server.documents.position_mapping import PositionMapping
    from loop_ls.server.documents.session import Session


def runnables(session: Session) -> list[JsonObject]:
    """`{uri, kind, name, label, range, judged, inner}` of each, by file."""
    found: list[tuple[str, Runnable, JsonObject]] = []
    for document in _documents(session):
        places, uri = session.places(document), session.spelled(document.uri)
        found += [(uri, one, {"uri": uri, **_written(places, one)}) for one in of_document(document)]
    return [row for _, _, row in sorted(found, key=lambda one: (one[0], one[1].span.start.line))]


def _documents(session: Session) -> Iterator[Document]:
    """Each once, as the editor shows it where it is open."""
    seen: set[str] = set()
    for folder in session.all_folders():
        for document in folder.documents():
            if document.uri not in seen:
                seen.add(document.uri)
                yield document


def _written(places: PositionMapping, one: Runnable) -> JsonObject:
    row: JsonObject = {"kind": one.kind, "name": one.name, "label": one.label}
    row |= {"range": places.range(one.span), "judged": places.range(one.judged)}
    return row | {"inner": [_written(places, part) for part in one.inner]}
