"""Pulled diagnostics: of one document at once, of the workspace as a stream that stays open."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from loop_ls.server.routes.requests import named
from loop_ls.server.rpc import methods
from loop_ls.server.rpc.raw_json import Written, record, sequence

if TYPE_CHECKING:
    from loop_ls.server.language_server import LoopServer

Json = dict[str, Any]


def register(server: LoopServer) -> None:
    def on_pull(params: Json) -> Written:
        uri = named(params)
        opened = server.session.find(uri) or server.session.indexed(uri)
        if opened is None:
            return record(kind="full", items=[])
        name, found = server.publisher.report(opened)
        if name == params.get("previousResultId"):
            return record(kind="unchanged", resultId=name)
        return record(kind="full", resultId=name, items=sequence(found))

    async def on_workspace(params: Json) -> Written:
        token = params.get("partialResultToken")
        return await server.reports.answer(_known(params), token if isinstance(token, str | int) else None)

    server.protocol.raw |= {methods.TEXT_DOCUMENT_DIAGNOSTIC: on_pull, methods.WORKSPACE_DIAGNOSTIC: on_workspace}


def _known(params: Json) -> dict[str, str]:
    """What the client has already: the result of each file."""
    entries = params.get("previousResultIds")
    found = {}
    for entry in entries if isinstance(entries, list) else ():
        uri, value = (entry.get("uri"), entry.get("value")) if isinstance(entry, dict) else (None, None)
        if isinstance(uri, str) and isinstance(value, str):
            found[uri] = value
    return found
