"""The one publisher of diagnostics: what a file says (`loop-ls`) and what its runs said (`loop-run`).

A client that pulls gets only the second by push; a client that does not gets both in one message,
since the next message for a document replaces the last. Nothing is sent twice.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, NamedTuple

from loop_ls.server.diagnostics.convert import RUN_SOURCE, SOURCE, Diagnostics, Setting
from loop_ls.server.rpc import methods
from loop_ls.server.rpc.raw_json import Written, record, sequence

if TYPE_CHECKING:
    from loop_ls.index.document import Document
    from loop_ls.rules.engine.finding import Finding
    from loop_ls.server.documents.folders import Folder
    from loop_ls.server.documents.session import OpenDocument
    from loop_ls.server.language_server import LoopServer

logger = logging.getLogger(__name__)


class _Report(NamedTuple):
    name: str
    document: Document
    findings: tuple[Finding, ...]
    diagnostics: list[Written]
    memory: Diagnostics


class Publisher:
    """Keeps what was said last about each document."""

    def __init__(self, server: LoopServer) -> None:
        self._server = server
        self._touched: dict[str, OpenDocument] = {}
        self._sent: dict[str, list[Written]] = {}
        self._reports: dict[str, _Report] = {}
        self._faults: dict[str, str] = {}
        self._count = 0
        self._rest: asyncio.Handle | None = None

    # -- push ---------------------------------------------------------------------------------

    def touch(self, opened: OpenDocument) -> None:
        """This document changed: `flush` publishes it."""
        self._touched[opened.key] = opened

    def flush(self) -> None:
        """Publish what was touched now; documents that depend on it follow when nothing else waits."""
        if not self._touched:
            return
        touched, self._touched = self._touched, {}
        for opened in touched.values():
            self._publish(opened, touched=True)
        self.publish_affected_soon()

    def publish_affected_soon(self) -> None:
        """Look again at the documents that depend on what changed, once the queue is empty."""
        if self._rest is None:
            self._rest = asyncio.get_running_loop().call_soon(self._publish_affected)

    def _publish_affected(self) -> None:
        self._rest = None
        session = self._server.session
        if self._nobody_else():
            for folder in session.all_folders():
                folder.drop_changes()
            return
        for folder in tuple(session.all_folders()):
            changed, affected = folder.take_changes()
            for uri in affected:
                opened = session.find(uri)
                if opened is not None:
                    self._publish(opened)
            if changed:
                self._server.reports.changed(changed | affected)

    def _nobody_else(self) -> bool:
        """Whether the document that changed is the only one that anybody looks at."""
        session = self._server.session
        if len(session.open) != 1 or self._server.reports.open:
            return False
        [opened] = session.open.values()
        return all(folder.changed <= {opened.document.uri} for folder in session.all_folders())

    def publish_all(self) -> None:
        """Settings, folders or the whole index changed."""
        for opened in tuple(self._server.session.open.values()):
            self._publish(opened)
        self._server.reports.changed(None)

    def publish_runs(self, opened: OpenDocument) -> None:
        """A run said something about this document."""
        self._publish(opened)

    def closed(self, opened: OpenDocument) -> None:
        """A closed document has no findings here (UP-26); workspace diagnostics tell of it."""
        self._touched.pop(opened.key, None)
        self._reports.pop(opened.key, None)
        if self._sent.pop(opened.key, None):
            self._send(opened.uri, None, [])
        self.publish_affected_soon()

    def forget(self, key: str) -> None:
        """This file is gone."""
        self._reports.pop(key, None)

    def _publish(self, opened: OpenDocument, touched: bool = False) -> None:
        if self._server.session.open.get(opened.key) is not opened:
            return
        pulls = self._server.client.pull_diagnostics
        try:
            found = self._run_diagnostics(opened)
            if not pulls:
                found = self.report(opened)[1] + found
        except Exception as error:
            self._failed(opened, error)
            return
        # A client that waits for diagnostics is told of every version; everybody else only of news.
        if found != self._sent.get(opened.key, []) or (touched and not pulls):
            self._sent[opened.key] = found
            self._send(opened.uri, opened.document.version, found)

    def _failed(self, opened: OpenDocument, error: Exception) -> None:
        """With a stack trace, but the same fault at every key only once (UP-33, UP-43)."""
        fault = repr(error)
        trace = error if self._faults.get(opened.key) != fault else None
        self._faults[opened.key] = fault
        place = f"{opened.uri} version {opened.document.version}"
        report = self._server.crash_report("diagnostics", {"textDocument": {"uri": opened.uri}}, error)
        told = f"; to tell us, attach {report}" if report and trace else ""
        logger.error("The diagnostics of %s failed: %s%s", place, fault, told, exc_info=trace)

    def _send(self, uri: str, version: int | None, found: list[Written]) -> None:
        about = {"uri": uri} if version is None else {"uri": uri, "version": version}
        params = record(**about, diagnostics=sequence(found))
        self._server.protocol.notify(methods.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS, params)

    def _run_diagnostics(self, opened: OpenDocument) -> list[Written]:
        found = self._server.run_findings(opened)
        if not found:
            return []
        return Diagnostics().written(found, self._setting(opened.uri, opened.document, RUN_SOURCE))

    def _setting(self, uri: str, document: Document, source: str) -> Setting:
        session = self._server.session
        return Setting(uri, session.places(document), session.places_of, self._server.client, source)

    # -- pull ---------------------------------------------------------------------------------

    def report(self, opened: OpenDocument) -> tuple[str, list[Written]]:
        """The findings of an open document, with an id that changes when they do."""
        return self.report_on(opened.key, opened.uri, opened.folder, opened.document)

    def report_on(self, key: str, uri: str, folder: Folder, document: Document) -> tuple[str, list[Written]]:
        findings = folder.findings(document)
        known = self._reports.get(key)
        if known is None or known.document is not document or known.findings is not findings:
            memory = Diagnostics() if known is None else known.memory
            found = memory.written(findings, self._setting(uri, document, SOURCE))
            same = known is not None and known.diagnostics == found
            name = known.name if known is not None and same else self._next_id()
            known = self._reports[key] = _Report(name, document, findings, found, memory)
        return known.name, known.diagnostics

    def _next_id(self) -> str:
        self._count += 1
        return f"loop-ls:{self._count}"
