"""An editor's session through pytest-lsp: what arrived, and waiting for it with a limit."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cattrs import Converter
from lsprotocol import types as t
from lsprotocol.converters import get_converter
from pytest_lsp import LanguageClient, client_capabilities, make_test_lsp_client

from tests.processes.forked import create_subprocess_exec
from tests.server.support.vscode import CAPABILITIES

Json = dict[str, Any]
LIMIT = 60.0
EDITORS = ("vscode", "neovim", "emacs")


def capabilities(editor: str) -> t.ClientCapabilities:
    if editor == "vscode":
        converter: Converter = get_converter()
        return converter.structure(CAPABILITIES, t.ClientCapabilities)
    return client_capabilities(editor)


class Session:
    """Records what pytest-lsp's own client drops."""

    def __init__(self, editor: str, folder: Path, data: Path) -> None:
        self.editor, self.folder, self.data = editor, folder, data
        self.client: LanguageClient = make_test_lsp_client()
        self.capabilities = capabilities(editor)
        self.pulls = (
            self.capabilities.text_document is not None and self.capabilities.text_document.diagnostic is not None
        )
        self.events: list[Json] = []
        self.states: list[Json] = []
        self.engines: list[bool] = []
        self.views: list[Json] = []
        self.published: list[t.PublishDiagnosticsParams] = []
        self._news = asyncio.Condition()
        self._listen("loopLs/event", lambda params: self.events.append(plain(params)))
        self._listen("loopLs/run", lambda params: self.states.append(plain(params)))
        self._listen("loopLs/view", lambda params: self.views.append(plain(params)))
        self._listen("loopLs/engine", lambda params: self.engines.append(plain(params)["running"]))
        self._listen_published()

    async def begin(self, options: Json | None = None) -> t.InitializeResult:
        environment = {**os.environ, "LOOP_LS_DATA_DIR": str(self.data)}
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(asyncio, "create_subprocess_exec", create_subprocess_exec)
            await self.client.start_io(sys.executable, "-m", "loop_ls", "serve", env=environment)
        named = [t.WorkspaceFolder(uri=self.folder.as_uri(), name=self.folder.name)]
        return await self.client.initialize_session(
            t.InitializeParams(
                capabilities=self.capabilities,
                root_uri=self.folder.as_uri(),
                workspace_folders=named,
                initialization_options=options,
            )
        )

    async def end(self) -> None:
        await self.client.shutdown_session()
        await self.client.stop()

    # -- texts --------------------------------------------------------------------------------

    def open(self, uri: str, text: str, version: int = 1) -> None:
        item = t.TextDocumentItem(uri=uri, language_id="yaml", version=version, text=text)
        self.client.text_document_did_open(t.DidOpenTextDocumentParams(text_document=item))

    def insert(self, uri: str, version: int, line: int, character: int, text: str) -> None:
        at = t.Position(line, character)
        change = t.TextDocumentContentChangePartial(range=t.Range(at, at), text=text)
        document = t.VersionedTextDocumentIdentifier(uri=uri, version=version)
        params = t.DidChangeTextDocumentParams(text_document=document, content_changes=[change])
        self.client.text_document_did_change(params)

    async def findings(self, uri: str, version: int) -> list[t.Diagnostic]:
        """What the editor shows for this version, however it gets it."""
        if self.pulls:
            params = t.DocumentDiagnosticParams(text_document=t.TextDocumentIdentifier(uri))
            report = await self.client.text_document_diagnostic_async(params)
            assert isinstance(report, t.RelatedFullDocumentDiagnosticReport)
            return list(report.items)

        def mine() -> list[t.PublishDiagnosticsParams]:
            return [p for p in self.published if p.uri == uri and p.version == version]

        await self.until(lambda: bool(mine()))
        return list(mine()[-1].diagnostics)

    def run_findings(self, uri: str) -> list[t.Diagnostic]:
        """What runs said, as it is shown now."""
        shown = [p for p in self.published if p.uri == uri]
        return [d for d in shown[-1].diagnostics if d.source == "loop-run"] if shown else []

    # -- waiting ------------------------------------------------------------------------------

    async def until(self, condition: Callable[[], bool], limit: float = LIMIT) -> None:
        async with asyncio.timeout(limit), self._news:
            await self._news.wait_for(condition)

    def events_of(self, run_id: str) -> list[Json]:
        return [event for event in self.events if event["runId"] == run_id]

    async def until_event(self, kind: str, run_id: str, **fields: Any) -> Json:
        def found() -> list[Json]:
            mine = [event for event in self.events_of(run_id) if event["kind"] == kind]
            return [e for e in mine if all(e.get(name) == value for name, value in fields.items())]

        await self.until(lambda: bool(found()))
        return found()[0]

    async def command(self, name: str, argument: Any) -> Json:
        params = t.ExecuteCommandParams(command=name, arguments=[argument])
        answer: Json = plain(await self.client.workspace_execute_command_async(params))
        return answer

    def _listen(self, method: str, take: Callable[[Any], None]) -> None:
        @self.client.feature(method)
        async def heard(params: Any) -> None:
            async with self._news:
                take(params)
                self._news.notify_all()

    def _listen_published(self) -> None:
        async def heard(params: t.PublishDiagnosticsParams) -> None:
            async with self._news:
                self.published.append(params)
                self._news.notify_all()

        @self.client.feature(t.CLIENT_REGISTER_CAPABILITY)
        def registered(params: t.RegistrationParams) -> None:
            return None

        for method in (
            t.WORKSPACE_CODE_LENS_REFRESH,
            t.WORKSPACE_INLAY_HINT_REFRESH,
            t.WORKSPACE_SEMANTIC_TOKENS_REFRESH,
        ):
            self.client.feature(method)(_refreshed)

        # pytest-lsp has a handler of its own for this one.
        self.client.protocol.fm.features[t.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS] = heard

        progress = self.client.protocol.fm.features[t.PROGRESS]

        async def progressed(params: t.ProgressParams) -> None:
            async with self._news:
                progress(params)
                self._news.notify_all()

        self.client.protocol.fm.features[t.PROGRESS] = progressed


def _refreshed(params: None) -> None:
    """The request to draw something again needs an answer, nothing more."""


def plain(value: Any) -> Any:
    """pygls makes named tuples of messages that it does not know; back to plain values."""
    if hasattr(value, "_asdict"):
        return {name: plain(one) for name, one in value._asdict().items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    return value
