"""Requests about the whole workspace: symbols by name, and files that are about to be renamed."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from loop_ls.features.answers import Edits
from loop_ls.features.rename.file_rename import moved
from loop_ls.features.symbols.workspace_symbols import LIMIT, workspace_symbols
from loop_ls.server.documents import uris
from loop_ls.server.documents.workspace_edit import up_to_date, workspace_edit
from loop_ls.server.routes.outline import KINDS
from loop_ls.server.rpc import methods

if TYPE_CHECKING:
    from loop_ls.server.language_server import LoopServer

Json = dict[str, Any]
#: Seconds to wait for the index: the client shows a list, or waits with the renaming.
_INDEX_LIMIT = 5.0


def register(server: LoopServer) -> None:
    async def on_symbols(params: Json) -> list[Json]:
        query = params.get("query")
        await _all_files(server)
        found: list[Json] = []
        seen: set[str] = set()
        for folder in server.session.all_folders():
            mine: set[str] = set()
            for one in workspace_symbols(folder.workspace, query if isinstance(query, str) else ""):
                places = server.session.places_of(one.uri)
                if places is None or one.uri in seen:  # a folder may lie in another one
                    continue
                mine.add(one.uri)
                place = {"uri": server.session.spelled(one.uri), "range": places.range(one.span)}
                entry: Json = {"name": one.name, "kind": KINDS[one.kind], "location": place}
                if one.container:
                    entry["containerName"] = one.container
                found.append(entry)
            seen |= mine
        return found[:LIMIT]

    async def on_rename_files(params: Json) -> Json | None:
        """References follow the files that they mean; they are renamed anyway, so nothing is refused."""
        files = params.get("files")
        renames = {}
        for file in files if isinstance(files, list) else ():
            old, new = (file.get("oldUri"), file.get("newUri")) if isinstance(file, dict) else (None, None)
            if isinstance(old, str) and isinstance(new, str):
                renames[uris.path_text(old)] = uris.path_text(new)
        await _all_files(server)
        with suppress(TimeoutError):
            await asyncio.wait_for(server.indexing.catch_up(), _INDEX_LIMIT)

        def following() -> Edits:
            edits: Edits = {}
            for folder in server.session.all_folders():
                edits = {**edits, **moved(folder.workspace, renames)}
            return edits

        edits = up_to_date(server, following, lambda found: found)
        return workspace_edit(server, edits) if edits else None

    server.protocol.raw |= {
        methods.WORKSPACE_SYMBOL: on_symbols,
        methods.WORKSPACE_WILL_RENAME_FILES: on_rename_files,
    }


async def _all_files(server: LoopServer) -> None:
    if any(not folder.indexed for folder in server.session.all_folders()):
        with suppress(TimeoutError):
            await asyncio.wait_for(server.indexing.ready(), _INDEX_LIMIT)
