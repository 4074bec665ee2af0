"""Requests about the whole workspace: symbols by name, and files that are about to be renamed."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from loop_ls.features.answers import Edits
from loop_ls.features.rename.file_rename import moved, moving_along
from loop_ls.features.symbols.workspace_symbols import LIMIT, workspace_symbols
from loop_ls.index.disk.uris import uri_of
from loop_ls.server.documents import uris
from loop_ls.server.documents.outline import KINDS
from loop_ls.server.documents.workspace_edit import up_to_date, workspace_edit
from loop_ls.text.json_value import JsonObject

if TYPE_CHECKING:
    from loop_ls.server.context import Context

#: Seconds to wait for the index: the client waits with the renaming.
_INDEX_LIMIT = 5.0
#: Seconds that somebody waits for a list; then it shows what was read so far.
_LIST_LIMIT = 2.0


async def on_symbols(context: Context, params: JsonObject) -> list[JsonObject]:
    query = params.get("query")
    await _all_files(context, _LIST_LIMIT)
    found: list[JsonObject] = []
    seen: set[str] = set()
    for folder in context.session.all_folders():
        mine: set[str] = set()
        workspace = context.indexing.so_far(folder)
        for one in workspace_symbols(workspace, query if isinstance(query, str) else ""):
            if one.uri in seen:  # a folder may lie in another one
                continue
            mine.add(one.uri)
            places = context.session.places(workspace.documents[one.uri])
            place: JsonObject = {"uri": context.session.spelled(one.uri), "range": places.range(one.span)}
            entry: JsonObject = {"name": one.name, "kind": KINDS[one.kind], "location": place}
            if one.container:
                entry["containerName"] = one.container
            found.append(entry)
        seen |= mine
    return found[:LIMIT]


async def on_rename_files(context: Context, params: JsonObject) -> JsonObject | None:
    """References follow the files that they mean; they are renamed anyway, so nothing is refused."""
    files = params.get("files")
    renames = {}
    for file in files if isinstance(files, list) else ():
        old, new = (file.get("oldUri"), file.get("newUri")) if isinstance(file, dict) else (None, None)
        if isinstance(old, str) and isinstance(new, str):
            renames[uris.path_text(old)] = uris.path_text(new)
    await _all_files(context, _INDEX_LIMIT)
    with suppress(TimeoutError):
        await asyncio.wait_for(context.indexing.catch_up(), _INDEX_LIMIT)

    def following() -> Edits:
        edits: Edits = {}
        for folder in context.session.all_folders():
            edits = {**edits, **moved(folder.workspace, renames)}
        return edits

    edits = up_to_date(context.session, context.publisher, following, lambda found: found)
    edit = workspace_edit(context.session, context.client.facts, edits) if edits else None
    return _with_neighbours(context, renames, edit)


def _with_neighbours(context: Context, renames: Mapping[str, str], edit: JsonObject | None) -> JsonObject | None:
    """Checks and test cases keep the name of their loop file, in clients that can be told to rename a file."""
    facts = context.client.facts
    if not (facts.moves_files and facts.document_changes):
        return edit
    moves: list[JsonObject] = []
    for folder in context.session.all_folders():
        for old, new in moving_along(folder.workspace, renames).items():
            spelled = context.session.spelled(uri_of(old))
            moves.append({"kind": "rename", "oldUri": spelled, "newUri": uri_of(new)})
    if not moves:
        return edit
    changes = (edit or {}).get("documentChanges")
    return {**(edit or {}), "documentChanges": [*(changes if isinstance(changes, list) else ()), *moves]}


async def _all_files(context: Context, limit: float) -> None:
    if any(not folder.indexed for folder in context.session.all_folders()):
        with suppress(TimeoutError):
            await asyncio.wait_for(context.indexing.ready(), limit)
