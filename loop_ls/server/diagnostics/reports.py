"""The diagnostics of each document, converted once, under an id that changes when they do."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from loop_ls.server.diagnostics.convert import SOURCE, Diagnostics, Setting

if TYPE_CHECKING:
    from loop_ls.index.document import Document
    from loop_ls.rules.engine.finding import Finding
    from loop_ls.server.client import Client
    from loop_ls.server.documents.folders import Folder
    from loop_ls.server.documents.session import OpenDocument, Session
    from loop_ls.server.rpc.raw_json import Written


class _Report(NamedTuple):
    name: str
    document: Document
    findings: tuple[Finding, ...]
    diagnostics: list[Written]
    memory: Diagnostics


class Reports:
    """What was said last about each document, whoever asked."""

    def __init__(self, session: Session, client: Client) -> None:
        self._session, self._client = session, client
        self._known: dict[str, _Report] = {}
        self._count = 0

    def of(self, opened: OpenDocument) -> tuple[str, list[Written]]:
        """The findings of an open document, with their id."""
        return self.on(opened.key, opened.uri, opened.folder, opened.document)

    def on(self, key: str, uri: str, folder: Folder, document: Document) -> tuple[str, list[Written]]:
        findings = folder.findings(document)
        known = self._known.get(key)
        if known is None or known.document is not document or known.findings is not findings:
            memory = Diagnostics() if known is None else known.memory
            found = memory.written(findings, self.setting(uri, document, SOURCE))
            same = known is not None and known.diagnostics == found
            name = known.name if known is not None and same else self._next_id()
            known = self._known[key] = _Report(name, document, findings, found, memory)
        return known.name, known.diagnostics

    def forget(self, key: str) -> None:
        """This file is closed, or gone."""
        self._known.pop(key, None)

    def setting(self, uri: str, document: Document, source: str = SOURCE) -> Setting:
        session = self._session
        return Setting(uri, session.places(document), session.places_of, self._client.facts, source)

    def _next_id(self) -> str:
        self._count += 1
        return f"loop-ls:{self._count}"
