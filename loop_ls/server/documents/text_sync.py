"""Open, change, close: the editor's texts become documents. Our documents are the only text store."""

from __future__ import annotations

import asyncio
import gc
import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcInvalidParams

from loop_ls.index.disk.discovery import read_text
from loop_ls.index.document import Document
from loop_ls.server.documents.position_mapping import PositionMapping
from loop_ls.server.documents.session import OpenDocument, read, without_text
from loop_ls.server.documents.uris import is_view
from loop_ls.text.decode import MAX_BYTES
from loop_ls.text.json_value import Json, JsonObject
from loop_ls.text.lines import BOM, Text
from loop_ls.text.position import Span

if TYPE_CHECKING:
    from loop_ls.server.client import Client
    from loop_ls.server.documents.session import Session

logger = logging.getLogger(__name__)

#: In front of all characters of a text, as LSP writes it.
_FIRST = {"line": 0, "character": 0}


class Watcher(Protocol):
    """Who is told of documents that change."""

    def touch(self, opened: OpenDocument) -> None: ...

    def closed(self, opened: OpenDocument) -> None: ...


class Texts:
    """Handles the three notifications, whose params come as they were sent."""

    def __init__(self, session: Session, client: Client, watcher: Watcher) -> None:
        self._session, self._client, self._watcher = session, client, watcher
        #: A document was read as a whole since this was last cleared.
        self.fresh = True
        #: Documents whose runs nobody has asked for yet.
        self.new: list[OpenDocument] = []
        #: Who waits for the next change of a document.
        self._waiting: dict[str, list[asyncio.Future[None]]] = {}
        #: Documents of which the person was told that a change failed.
        self._told: set[str] = set()

    def opened(self, params: JsonObject) -> None:
        item = params.get("textDocument")
        if not isinstance(item, dict) or not isinstance(item.get("uri"), str) or not isinstance(item.get("text"), str):
            raise JsonRpcInvalidParams("didOpen must have a text document with uri and text")
        if is_view(item["uri"]):
            return
        # All of it will live: a collection would walk it for nothing. the server turns it on again when it has settled.
        gc.disable()
        opened = self._session.opened(item["uri"], item["text"], _version(item))
        self.fresh = True
        self.new.append(opened)
        self._watcher.touch(opened)
        self._wake(opened)

    def changed(self, params: JsonObject) -> None:
        item, changes = params.get("textDocument"), params.get("contentChanges")
        if not isinstance(item, dict) or not isinstance(item.get("uri"), str) or not isinstance(changes, list):
            raise JsonRpcInvalidParams("didChange must have a text document and changes")
        opened = self._session.find(item["uri"])
        if opened is None:
            if not is_view(item["uri"]):
                logger.warning("%s was changed but never opened", item["uri"])
            return
        version = _version(item)
        try:
            self._change(opened, changes, version)
        except JsonRpcInvalidParams:
            self._lose(opened, version)
            raise
        except Exception:
            self._read_whole(opened, changes, version)
            raise  # to the log and into a report: it is a fault of ours
        finally:
            self._watcher.touch(opened)
            self._wake(opened)

    def _change(self, opened: OpenDocument, changes: Sequence[Json], version: int) -> None:
        if opened.lost:
            changes = _from_the_last_whole_text(changes)
            if not changes:
                return  # places in a text that nobody knows
        if opened.lost or opened.too_large is not None or any(map(_is_large, changes)):
            text = opened.document.text if opened.too_large is None else opened.too_large
            self._reopen(opened, self._edited(text, changes), version)
            return
        document = opened.document
        for change in changes:
            document = self._applied(document, change, version)
        self._session.changed(opened, document)

    def _wake(self, opened: OpenDocument) -> None:
        for waiting in self._waiting.pop(opened.key, ()):
            if not waiting.done():
                waiting.set_result(None)

    # -- a change that failed -----------------------------------------------------------------

    def _read_whole(self, opened: OpenDocument, changes: Sequence[Json], version: int) -> None:
        """Nothing that was kept of the document is trusted any more: the lines that it had are changed, and read."""
        text = opened.document.text if opened.too_large is None else opened.too_large
        try:
            self._reopen(opened, self._edited(Text.of(str(text)), changes), version)
        except Exception:
            logger.exception("%s cannot be read as a whole either", opened.uri)
            self._lose(opened, version)
            return
        self._tell(opened, "was read again; if results do not match the text, close and reopen it")

    def _lose(self, opened: OpenDocument, version: int) -> None:
        """The text of the editor is not known from now on, until it is sent as a whole or saved."""
        if opened.lost:
            return
        opened.lost, opened.too_large = True, None
        self._session.changed(opened, without_text(opened.document, version))

    def _tell(self, opened: OpenDocument, what: str) -> None:
        """Once for each document: a fault may come back with every key."""
        if opened.key in self._told:
            return
        self._told.add(opened.key)
        name = opened.document.path.rpartition("/")[2]
        said = f"A change of `{name}` could not be applied (a bug in loop-ls, see its log). The file {what}."
        self._client.show(lsp.MessageType.Warning, said)

    def saved(self, uri: str) -> None:
        """What the editor shows is on the disk now: a text that got lost is read from there."""
        opened = self._session.find(uri)
        if opened is None or not opened.lost:
            return
        found = read_text(opened.document.path)
        if found is not None:
            self._reopen(opened, found, opened.document.version)
            self._watcher.touch(opened)

    # -- reading ------------------------------------------------------------------------------

    async def next_change(self, key: str) -> None:
        """Wait until the editor changes this document, or opens it. The caller sets a limit."""
        waiting: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(key, []).append(waiting)
        await waiting

    def closed(self, params: JsonObject) -> None:
        item = params.get("textDocument")
        if not isinstance(item, dict) or not isinstance(item.get("uri"), str):
            raise JsonRpcInvalidParams("didClose must have a text document")
        opened: OpenDocument | None = self._session.closed(item["uri"])
        if opened is not None:
            self._told.discard(opened.key)
            self._watcher.closed(opened)

    def _edited(self, text: Text, changes: Sequence[Json]) -> Text:
        for change in changes:
            where, new = _checked(change)
            if where is None:
                text = Text.of(new)
                continue
            span = _span(PositionMapping(text, self._session.encoding, sent=True), where)
            whole = _across_the_mark(text, span, where, new)
            text = text.edit(span, new) if whole is None else Text.of(whole)
        return text

    def _reopen(self, opened: OpenDocument, text: Text, version: int) -> None:
        self.fresh = True
        document, opened.too_large = read(opened.uri, str(text), version)
        opened.lost = False
        self._session.changed(opened, document)

    def _applied(self, document: Document, change: Json, version: int) -> Document:
        where, new = _checked(change)
        if where is not None:
            span = _span(PositionMapping(document.text, self._session.encoding, sent=True), where)
            whole = _across_the_mark(document.text, span, where, new)
            if whole is None:
                return document.edit(span, new, version)
            new = whole
        self.fresh = True
        return document.rewritten(new, version)


def _from_the_last_whole_text(changes: Sequence[Json]) -> Sequence[Json]:
    whole = [at for at, change in enumerate(changes) if _checked(change)[0] is None]
    return changes[whole[-1] :] if whole else []


def _is_large(change: Json) -> bool:
    text = change.get("text") if isinstance(change, dict) else None
    return isinstance(text, str) and len(text) > MAX_BYTES // 8


def _checked(change: Json) -> tuple[Json, str]:
    """The range that is replaced, None for the whole text, and the new text."""
    if not isinstance(change, dict) or not isinstance(new := change.get("text"), str):
        raise JsonRpcInvalidParams("a content change must have a text")
    return change.get("range"), new


def _span(places: PositionMapping, found: Json) -> Span:
    try:
        return places.read_range(found)
    except ValueError as error:
        raise JsonRpcInvalidParams(str(error)) from None


def _across_the_mark(text: Text, span: Span, where: Json, new: str) -> str | None:
    """The whole new text, if a change begins in front of all characters and a byte order mark is among those that
    stood or will stand there; else None."""
    if not isinstance(where, dict) or where["start"] != _FIRST:
        return None
    line, column = span.end
    first = (new or text.line(line)[column:])[:1]
    if first != BOM and not text.bom:
        return None
    mark = BOM if text.bom and where["end"] == _FIRST else ""
    return f"{new}{mark}{text.slice(Span(span.end, text.end))}"


def _version(item: JsonObject) -> int:
    version = item.get("version")
    return version if isinstance(version, int) else 0
