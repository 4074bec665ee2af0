"""Workspace diagnostics: one request that stays open and is told of every change.

Answering it would make the editor ask again every two seconds; a stream costs nothing while nothing
changes. Files are looked at in slices, so that typing goes first.
"""

from __future__ import annotations

import asyncio
import logging
import time
from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from loop_ls.server.documents import uris
from loop_ls.server.rpc.raw_json import Written, record, sequence
from loop_ls.server.tasks import SLICE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from loop_ls.index.document import Document
    from loop_ls.server.client import Client
    from loop_ls.server.diagnostics.reports import Reports
    from loop_ls.server.documents.folders import Folder
    from loop_ls.server.documents.session import Session

logger = logging.getLogger(__name__)

#: Reports in one message.
_MOST = 100


#: What a client knows: the uri and the result id of each file, by key.
_Known = dict[str, tuple[str, str]]


class _Stream:
    """One open request: what its client knows, and what may be news to it."""

    def __init__(self, known: _Known) -> None:
        self.known = known
        self.news = asyncio.Event()
        self._all, self._some = True, set[str]()

    def wake(self, affected: set[str] | None) -> None:
        if affected is None:
            self._all = True
        else:
            self._some |= affected
        self.news.set()

    def take(self) -> set[str] | None:
        """The documents to look at; None: all of them."""
        affected = None if self._all else self._some
        self._all, self._some = False, set()
        self.news.clear()
        return affected


class WorkspaceStreams:
    """The open streams of workspace diagnostics."""

    def __init__(self, session: Session, client: Client, reports: Reports) -> None:
        self._session, self._client, self._reports = session, client, reports
        self._streams: set[_Stream] = set()

    @property
    def open(self) -> bool:
        return bool(self._streams)

    def changed(self, affected: set[str] | None) -> None:
        """These documents may have news; None: any."""
        for stream in self._streams:
            stream.wake(affected)

    async def answer(self, previous: dict[str, str], token: str | int | None) -> Written:
        """Without a token to stream to, the first news are the answer. All files are known when this is asked."""
        stream = _Stream({uris.key(uri): (uri, name) for uri, name in previous.items()})
        first = not previous
        self._streams.add(stream)
        try:
            while True:
                reports = await self._news(stream)
                if token is None and (reports or first):
                    return record(items=sequence(reports))
                for at in range(0, len(reports), _MOST):
                    value = record(items=sequence(reports[at : at + _MOST]))
                    self._client.notify(lsp.PROGRESS, record(token=token, value=value))
                await stream.news.wait()
        finally:
            self._streams.discard(stream)

    async def _news(self, stream: _Stream) -> list[Written]:
        """Reports that differ from what the client knows."""
        affected = stream.take()
        reports: list[Written] = []
        seen: set[str] = set()
        until = time.perf_counter() + SLICE
        for folder, document in tuple(self._documents(affected)):
            key = uris.key(document.uri)
            if key in seen:
                continue
            seen.add(key)
            if (report := self._report(key, folder, document, stream.known)) is not None:
                reports.append(report)
            if time.perf_counter() > until:
                await asyncio.sleep(0)
                until = time.perf_counter() + SLICE
        gone = stream.known.keys() if affected is None else {uris.key(uri) for uri in affected} & stream.known.keys()
        for key in gone - seen:
            uri, _ = stream.known.pop(key)
            self._reports.forget(key)
            reports.append(record(uri=uri, version=None, kind="full", items=[]))
        return reports

    def _documents(self, affected: set[str] | None) -> Iterator[tuple[Folder, Document]]:
        for folder in self._session.all_folders():
            if affected is None:
                for document in folder.documents():
                    yield folder, document
                continue
            for uri in affected:
                if (found := folder.document(uri)) is not None:
                    yield folder, found

    def _report(self, key: str, folder: Folder, document: Document, known: _Known) -> Written | None:
        opened = self._session.open.get(key)
        if opened is not None:
            folder, document = opened.folder, opened.document
        uri = document.uri if opened is None else opened.uri
        try:
            name, found = self._reports.on(key, uri, folder, document)
        except Exception:
            logger.exception("The diagnostics of %s failed", uri)
            return None
        if key in known and known[key][1] == name:
            return None
        if key not in known and not found:
            known[key] = (uri, name)
            return None
        known[key] = (uri, name)
        version = None if opened is None else document.version
        return record(uri=uri, version=version, kind="full", resultId=name, items=sequence(found))
