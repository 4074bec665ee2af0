"""The one publisher of diagnostics: what a file says (`loop-ls`) and what its runs said (`loop-run`).

A client that pulls gets only the second by push; a client that does not gets both in one message,
since the next message for a document replaces the last. Nothing is sent twice.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from loop_ls.server.diagnostics.convert import RUN_SOURCE, Diagnostics
from loop_ls.server.rpc.raw_json import Written, record, sequence

if TYPE_CHECKING:
    from collections.abc import Callable

    from loop_ls.rules.engine.finding import Finding
    from loop_ls.server.client import Client
    from loop_ls.server.crash_reports import CrashReports
    from loop_ls.server.diagnostics.reports import Reports
    from loop_ls.server.diagnostics.workspace_stream import WorkspaceStreams
    from loop_ls.server.documents.session import OpenDocument, Session

logger = logging.getLogger(__name__)


class Publisher:
    """Keeps what was said last about each document."""

    def __init__(
        self,
        session: Session,
        client: Client,
        reports: Reports,
        streams: WorkspaceStreams,
        run_findings: Callable[[OpenDocument], tuple[Finding, ...]],
        crashes: CrashReports,
    ) -> None:
        self._session, self._client = session, client
        self._reports, self._streams = reports, streams
        self._run_findings, self._crashes = run_findings, crashes
        self._touched: dict[str, OpenDocument] = {}
        self._sent: dict[str, list[Written]] = {}
        self._faults: dict[str, str] = {}
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
        session = self._session
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
                self._streams.changed(changed | affected)

    def _nobody_else(self) -> bool:
        """Whether the document that changed is the only one that anybody looks at."""
        session = self._session
        if len(session.open) != 1 or self._streams.open:
            return False
        [opened] = session.open.values()
        return all(folder.changed <= {opened.document.uri} for folder in session.all_folders())

    def publish_all(self) -> None:
        """Settings, folders or the whole index changed."""
        for opened in tuple(self._session.open.values()):
            self._publish(opened)
        self._streams.changed(None)

    def publish_runs(self, opened: OpenDocument) -> None:
        """A run said something about this document."""
        self._publish(opened)

    def closed(self, opened: OpenDocument) -> None:
        """A closed document has no findings here (UP-26); workspace diagnostics tell of it."""
        self._touched.pop(opened.key, None)
        self._reports.forget(opened.key)
        if self._sent.pop(opened.key, None):
            self._send(opened.uri, None, [])
        self.publish_affected_soon()

    def _publish(self, opened: OpenDocument, touched: bool = False) -> None:
        if self._session.open.get(opened.key) is not opened:
            return
        pulls = self._client.facts.pull_diagnostics
        try:
            found = self._run_diagnostics(opened)
            if not pulls:
                found = self._reports.of(opened)[1] + found
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
        report = self._crashes.write("diagnostics", {"textDocument": {"uri": opened.uri}}, error)
        told = f"; to report it, attach {report}" if report and trace else ""
        logger.error("The diagnostics of %s failed: %s%s", place, fault, told, exc_info=trace)

    def _send(self, uri: str, version: int | None, found: list[Written]) -> None:
        about = {"uri": uri} if version is None else {"uri": uri, "version": version}
        params = record(**about, diagnostics=sequence(found))
        self._client.notify(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS, params)

    def _run_diagnostics(self, opened: OpenDocument) -> list[Written]:
        found = self._run_findings(opened)
        if not found:
            return []
        return Diagnostics().written(found, self._reports.setting(opened.uri, opened.document, RUN_SOURCE))
