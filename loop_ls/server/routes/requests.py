"""What raw params ask for: the document, the place in it, and the rest of the workspace behind it.

These requests are read as they come: structuring them costs more than answering them. What is missing
or odd is an error of that one request.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

from pygls.exceptions import JsonRpcContentModified, JsonRpcException, JsonRpcInvalidParams

from loop_ls.index.document import Document
from loop_ls.index.workspace import Workspace
from loop_ls.server.documents.position_mapping import PositionMapping
from loop_ls.text.json_value import Json, JsonObject
from loop_ls.text.position import Position, Span
from loop_ls.text.record import equal_record

if TYPE_CHECKING:
    from loop_ls.server.context import Context
    from loop_ls.server.documents.session import OpenDocument

#: Seconds that a request over files waits for the index.
_INDEX_LIMIT = 10.0


class RequestFailed(JsonRpcException):
    """The request is right and cannot be done; the sentence is shown to whoever asked."""

    CODE = -32803


@equal_record
class Asked:
    """One document as it was when the request came."""

    opened: OpenDocument
    document: Document
    places: PositionMapping

    @property
    def workspace(self) -> Workspace:
        """As it is now: files may have been read meanwhile."""
        return self.opened.workspace

    def place(self, params: JsonObject) -> Position:
        return self.position(params.get("position"))

    def position(self, found: Json) -> Position:
        try:
            return self.places.read_position(found)
        except ValueError as error:
            raise JsonRpcInvalidParams(str(error)) from None

    def range(self, params: JsonObject) -> Span:
        try:
            return self.places.read_range(params.get("range"))
        except ValueError as error:
            raise JsonRpcInvalidParams(str(error)) from None


def named(params: JsonObject) -> str:
    """The URI of the document that a request is about."""
    item = params.get("textDocument")
    uri = item.get("uri") if isinstance(item, dict) else None
    if not isinstance(uri, str):
        raise JsonRpcInvalidParams("the request must have a text document")
    return uri


def listed(params: JsonObject, name: str) -> list[JsonObject]:
    """The objects of a list in the params; nothing where there is no list."""
    found = params.get(name)
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def about(context: Context, params: JsonObject) -> Asked | None:
    """None for a document that is not open, or none of ours: another server answers for it; or too large to
    be read: of its text nothing is known, so that nothing can be told or edited."""
    opened = context.session.find(named(params))
    if opened is None or opened.document.format is None or opened.document.fault is not None:
        return None
    return Asked(opened, opened.document, context.session.places(opened.document))


async def with_all_files(context: Context, asked: Asked) -> bool:
    """Wait until the files of the workspace are known; whether they are. Raises when the text changed
    meanwhile, since the place that was asked for may have moved."""
    if not asked.opened.folder.indexed:
        with suppress(TimeoutError):
            await asyncio.wait_for(context.indexing.ready(), _INDEX_LIMIT)
        if asked.opened.document is not asked.document:
            raise JsonRpcContentModified("the text changed while the workspace was indexed")
    return asked.opened.folder.indexed


async def caught_up(context: Context, asked: Asked) -> None:
    """Take what changed on the disk and nobody told of. Raises when the text changed meanwhile."""
    with suppress(TimeoutError):
        await asyncio.wait_for(context.indexing.catch_up(), _INDEX_LIMIT)
    if asked.opened.document is not asked.document:
        raise JsonRpcContentModified("the text changed while the workspace was indexed")
