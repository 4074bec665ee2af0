"""Hover and definition: what stands here, and where it comes from."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from loop_ls.features.definition import definition
from loop_ls.features.hover.hover import hover
from loop_ls.server.routes.requests import Asked, about
from loop_ls.server.rpc import methods

if TYPE_CHECKING:
    from loop_ls.features.answers import Link
    from loop_ls.server.documents.position_mapping import Places
    from loop_ls.server.language_server import LoopServer

Json = dict[str, Any]
#: Seconds that a definition waits for the index.
_INDEX_LIMIT = 2.0


def register(server: LoopServer) -> None:
    def on_hover(params: Json) -> Json | None:
        asked = about(server, params)
        if asked is None:
            return None
        at = asked.place(params)
        runs = server.runs.views(asked.opened) if "runs" in server.__dict__ else ()
        folder = asked.opened.folder
        found = hover(asked.workspace, asked.document, at, asked.workspace.settings, runs, folder.all_known)
        if found is None:
            return None
        kind = "markdown" if server.client.markdown else "plaintext"
        return {"contents": {"kind": kind, "value": found.text}, "range": asked.places.range(found.span)}

    async def on_definition(params: Json) -> list[Json] | None:
        asked = about(server, params)
        if asked is None:
            return None
        position, opened = params.get("position"), asked.opened
        found = _links(server, asked, position)
        if not found and not opened.folder.indexed:
            # What it names may stand in a file that is not read yet.
            with suppress(TimeoutError):
                await asyncio.wait_for(server.indexing.ready(), _INDEX_LIMIT)
            asked = about(server, params)
            found = [] if asked is None else _links(server, asked, position)
        return found

    server.protocol.raw |= {methods.TEXT_DOCUMENT_HOVER: on_hover, methods.TEXT_DOCUMENT_DEFINITION: on_definition}


def _links(server: LoopServer, asked: Asked, position: Any) -> list[Json]:
    found = definition(asked.workspace, asked.document, asked.position(position))
    return [link for one in found if (link := _link(server, asked.places, one)) is not None]


def _link(server: LoopServer, places: Places, link: Link) -> Json | None:
    there = server.session.places_of(link.uri)
    if there is None:
        return None
    uri = server.session.spelled(link.uri)
    if not server.client.definition_links:
        return {"uri": uri, "range": there.range(link.name)}
    return {
        "originSelectionRange": places.range(link.origin),
        "targetUri": uri,
        "targetRange": there.range(link.target),
        "targetSelectionRange": there.range(link.name),
    }
