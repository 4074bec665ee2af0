"""Hover and definition: what stands here, and where it comes from."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from loop_ls.features.definition import definition
from loop_ls.features.hover import hover
from loop_ls.server.routes.asked import asked

if TYPE_CHECKING:
    from loop_ls.features.values import Link
    from loop_ls.server.language_server import LoopServer
    from loop_ls.server.places import Places
    from loop_ls.server.session import OpenDocument

Json = dict[str, Any]
#: Seconds that a definition waits for the index.
_INDEX_LIMIT = 2.0


def register(server: LoopServer) -> None:
    @server.feature(types.TEXT_DOCUMENT_HOVER)
    def on_hover(params: types.HoverParams) -> Json | None:
        opened = asked(server, params)
        if opened is None:
            return None
        places = server.session.places(opened.document)
        at = places.read(params.position.line, params.position.character)
        found = hover(opened.folder.workspace, opened.document, at, opened.folder.settings)
        if found is None:
            return None
        kind = "markdown" if server.client.markdown else "plaintext"
        return {"contents": {"kind": kind, "value": found.text}, "range": places.range(found.span)}

    @server.feature(types.TEXT_DOCUMENT_DEFINITION)
    async def on_definition(params: types.DefinitionParams) -> list[Json] | None:
        opened = asked(server, params)
        if opened is None:
            return None
        found = _links(server, opened, params.position)
        if not found and not opened.folder.indexed:
            # What it names may stand in a file that is not read yet.
            with suppress(TimeoutError):
                await asyncio.wait_for(server.indexing.ready(), _INDEX_LIMIT)
            found = _links(server, opened, params.position)
        return found


def _links(server: LoopServer, opened: OpenDocument, position: types.Position) -> list[Json]:
    places = server.session.places(opened.document)
    found = definition(opened.folder.workspace, opened.document, places.read(position.line, position.character))
    return [link for one in found if (link := _link(server, places, one)) is not None]


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
