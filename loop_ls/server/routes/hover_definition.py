"""Hover and definition: what stands here, and where it comes from."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

from loop_ls.features.definition import definition
from loop_ls.features.hover.hover import hover
from loop_ls.features.text.plain_text import plain_text
from loop_ls.server.routes.requests import Asked, about
from loop_ls.text.json_value import Json, JsonObject

if TYPE_CHECKING:
    from loop_ls.features.answers import Link
    from loop_ls.server.context import Context
    from loop_ls.server.documents.position_mapping import PositionMapping

#: Seconds that a definition waits for the index.
_INDEX_LIMIT = 2.0


def on_hover(context: Context, params: JsonObject) -> JsonObject | None:
    asked = about(context, params)
    if asked is None:
        return None
    at = asked.place(params)
    runs = context.runs.views(asked.opened)
    folder = asked.opened.folder
    found = hover(asked.workspace, asked.document, at, asked.workspace.settings, runs, folder.all_known)
    if found is None:
        return None
    if context.client.facts.markdown:
        contents = {"kind": "markdown", "value": found.text}
    else:
        contents = {"kind": "plaintext", "value": plain_text(found.text)}
    return {"contents": contents, "range": asked.places.range(found.span)}


async def on_definition(context: Context, params: JsonObject) -> list[JsonObject] | None:
    asked = about(context, params)
    if asked is None:
        return None
    position, opened = params.get("position"), asked.opened
    found = _links(context, asked, position)
    if not found and not opened.folder.indexed:
        # What it names may stand in a file that is not read yet.
        with suppress(TimeoutError):
            await asyncio.wait_for(context.indexing.ready(), _INDEX_LIMIT)
        asked = about(context, params)
        found = [] if asked is None else _links(context, asked, position)
    return found


def _links(context: Context, asked: Asked, position: Json) -> list[JsonObject]:
    found = definition(asked.workspace, asked.document, asked.position(position))
    return [link for one in found if (link := _link(context, asked.places, one)) is not None]


def _link(context: Context, places: PositionMapping, link: Link) -> JsonObject | None:
    there = context.session.places_of(link.uri)
    if there is None:
        return None
    uri = context.session.spelled(link.uri)
    if not context.client.facts.definition_links:
        return {"uri": uri, "range": there.range(link.name)}
    return {
        "originSelectionRange": places.range(link.origin),
        "targetUri": uri,
        "targetRange": there.range(link.target),
        "targetSelectionRange": there.range(link.name),
    }
