"""Pulled diagnostics: of one document at once, of the workspace as a stream that stays open."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lsprotocol import types

from loop_ls.server.written import Written, record, sequence

if TYPE_CHECKING:
    from loop_ls.server.language_server import LoopServer

Json = dict[str, Any]


def register(server: LoopServer) -> None:
    def on_pull(params: Json) -> Written:
        item = params.get("textDocument")
        uri = item.get("uri") if isinstance(item, dict) else None
        if not isinstance(uri, str):
            raise _bad("textDocument/diagnostic has a text document")
        opened = server.session.find(uri) or server.session.indexed(uri)
        if opened is None:
            return record(kind="full", items=[])
        name, found = server.publisher.report(opened)
        if name == params.get("previousResultId"):
            return record(kind="unchanged", resultId=name)
        return record(kind="full", resultId=name, items=sequence(found))

    server.feature(types.TEXT_DOCUMENT_DIAGNOSTIC)(on_pull)
    # It comes with every keystroke, and first of all after start.
    server.protocol.raw[types.TEXT_DOCUMENT_DIAGNOSTIC] = on_pull

    @server.feature(types.WORKSPACE_DIAGNOSTIC)
    async def on_workspace(params: types.WorkspaceDiagnosticParams) -> Written:
        known = {entry.uri: entry.value for entry in params.previous_result_ids}
        return await server.reports.answer(known, params.partial_result_token)


def _bad(sentence: str) -> Exception:
    from pygls.exceptions import JsonRpcInvalidParams

    return JsonRpcInvalidParams(sentence)
