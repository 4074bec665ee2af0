"""Open, change, close: the editor's texts become documents. Our documents are the only text store."""

from __future__ import annotations

import asyncio
import gc
import logging
from typing import TYPE_CHECKING, Any

from loop_ls.index.document import Document
from loop_ls.server.places import Places
from loop_ls.server.rpc_errors import JsonRpcInvalidParams
from loop_ls.server.session import OpenDocument, read
from loop_ls.server.uris import is_view
from loop_ls.text.decode import MAX_BYTES
from loop_ls.text.lines import Text
from loop_ls.text.position import Position, Span

if TYPE_CHECKING:
    from loop_ls.server.language_server import LoopServer

logger = logging.getLogger(__name__)

Json = dict[str, Any]


class Texts:
    """Handles the three notifications, whose params come as they were sent."""

    def __init__(self, server: LoopServer) -> None:
        self._server = server
        #: A document was read as a whole since this was last cleared.
        self.fresh = True
        #: Documents whose runs nobody has asked for yet.
        self.new: list[OpenDocument] = []
        #: Who waits for the next change of a document.
        self._waiting: dict[str, list[asyncio.Future[None]]] = {}

    def opened(self, params: Json) -> None:
        item = params.get("textDocument")
        if not isinstance(item, dict) or not isinstance(item.get("uri"), str) or not isinstance(item.get("text"), str):
            raise JsonRpcInvalidParams("didOpen has a text document with uri and text")
        if is_view(item["uri"]):
            return
        # All of it will live: a collection would walk it for nothing. `LoopServer.settle` turns it on again.
        gc.disable()
        opened = self._server.session.opened(item["uri"], item["text"], _version(item))
        self.fresh = True
        self.new.append(opened)
        self._server.publisher.touch(opened)

    def changed(self, params: Json) -> None:
        item, changes = params.get("textDocument"), params.get("contentChanges")
        if not isinstance(item, dict) or not isinstance(item.get("uri"), str) or not isinstance(changes, list):
            raise JsonRpcInvalidParams("didChange has a text document and changes")
        session = self._server.session
        opened = session.find(item["uri"])
        if opened is None:
            if not is_view(item["uri"]):
                logger.warning("%s was changed but never opened", item["uri"])
            return
        version = _version(item)
        if opened.too_large is not None or any(map(_is_large, changes)):
            text = opened.document.text if opened.too_large is None else opened.too_large
            self._changed_whole(opened, text, changes, version)
        else:
            document = opened.document
            for change in changes:
                document = self._applied(document, change, version)
            session.changed(opened, document)
        self._server.publisher.touch(opened)
        for waiting in self._waiting.pop(opened.key, ()):
            if not waiting.done():
                waiting.set_result(None)

    async def next_change(self, key: str) -> None:
        """Wait until the editor changes this document. The caller sets a limit."""
        waiting: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(key, []).append(waiting)
        await waiting

    def closed(self, params: Json) -> None:
        item = params.get("textDocument")
        if not isinstance(item, dict) or not isinstance(item.get("uri"), str):
            raise JsonRpcInvalidParams("didClose has a text document")
        opened: OpenDocument | None = self._server.session.closed(item["uri"])
        if opened is not None:
            self._server.publisher.closed(opened)

    def _changed_whole(self, opened: OpenDocument, text: Text, changes: list[Any], version: int) -> None:
        """A text that is too large, or may become so, is edited, and read where it is not."""
        self.fresh = True
        session = self._server.session
        for change in changes:
            checked = _checked(change)
            span = _span(Places(text, session.encoding), checked["range"]) if checked.get("range") else _all(text)
            text = text.edit(span, checked["text"])
        document, opened.too_large = read(opened.uri, str(text), version)
        session.changed(opened, document)

    def _applied(self, document: Document, change: Any, version: int) -> Document:
        change = _checked(change)
        if change.get("range") is None:
            self.fresh = True
            return document.edit(_all(document.text), change["text"], version)
        span = _span(self._server.session.places(document), change["range"])
        return document.edit(span, change["text"], version)


def _is_large(change: Any) -> bool:
    text = change.get("text") if isinstance(change, dict) else None
    return isinstance(text, str) and len(text) > MAX_BYTES // 8


def _checked(change: Any) -> Json:
    if not isinstance(change, dict) or not isinstance(change.get("text"), str):
        raise JsonRpcInvalidParams("a change has a text")
    return change


def _span(places: Places, found: Any) -> Span:
    try:
        return places.read_range(found)
    except ValueError as error:
        raise JsonRpcInvalidParams(str(error)) from None


def _all(text: Text) -> Span:
    return Span(Position(0, 0), text.end)


def _version(item: Json) -> int:
    version = item.get("version")
    return version if isinstance(version, int) else 0
