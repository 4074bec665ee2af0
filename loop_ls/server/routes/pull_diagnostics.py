"""Pulled diagnostics: of one document at once, of the workspace as a stream that stays open."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loop_ls.server.routes.requests import named
from loop_ls.server.rpc.raw_json import Written, record, sequence
from loop_ls.text.json_value import JsonObject

if TYPE_CHECKING:
    from loop_ls.server.context import Context


def on_pull(context: Context, params: JsonObject) -> Written:
    uri = named(params)
    opened = context.session.find(uri) or context.session.indexed(uri)
    if opened is None:
        return record(kind="full", items=[])
    name, found = context.reports.of(opened)
    if name == params.get("previousResultId"):
        return record(kind="unchanged", resultId=name)
    return record(kind="full", resultId=name, items=sequence(found))


async def on_workspace(context: Context, params: JsonObject) -> Written:
    token = params.get("partialResultToken")
    await context.indexing.ready()
    return await context.streams.answer(_known(params), token if isinstance(token, str | int) else None)


def _known(params: JsonObject) -> dict[str, str]:
    """What the client has already: the result of each file."""
    entries = params.get("previousResultIds")
    found = {}
    for entry in entries if isinstance(entries, list) else ():
        uri, value = (entry.get("uri"), entry.get("value")) if isinstance(entry, dict) else (None, None)
        if isinstance(uri, str) and isinstance(value, str):
            found[uri] = value
    return found
