"""Where a name is written, and writing another one: references, highlights, rename, linked editing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from pygls.exceptions import JsonRpcContentModified, JsonRpcInvalidParams

from loop_ls.features.highlight import highlight
from loop_ls.features.linked_editing import PATTERN, linked
from loop_ls.features.references import references
from loop_ls.features.rename.answers import Refused, Rename
from loop_ls.features.rename.rename import prepare, rename
from loop_ls.server.documents.workspace_edit import up_to_date, workspace_edit
from loop_ls.server.routes.requests import RequestFailed, about, caught_up, with_all_files
from loop_ls.text.json_value import JsonObject

if TYPE_CHECKING:
    from loop_ls.server.context import Context


async def on_references(context: Context, params: JsonObject) -> list[JsonObject] | None:
    asked = about(context, params)
    if asked is None:
        return None
    at, given = asked.place(params), params.get("context")
    declaration = not isinstance(given, dict) or given.get("includeDeclaration") is not False
    await with_all_files(context, asked)
    session = context.session
    found: list[JsonObject] = []
    for one in references(asked.workspace, asked.document, at, declaration):
        places = session.places_of(one.uri)
        if places is not None:
            found.append({"uri": session.spelled(one.uri), "range": places.range(one.span)})
    return found


def on_highlight(context: Context, params: JsonObject) -> list[JsonObject] | None:
    asked = about(context, params)
    if asked is None:
        return None
    found = highlight(asked.workspace, asked.document, asked.place(params))
    return [{"range": asked.places.range(one.span), "kind": 3 if one.writes else 2} for one in found]


def on_prepare(context: Context, params: JsonObject) -> JsonObject | None:
    asked = about(context, params)
    if asked is None:
        return None
    found = prepare(asked.workspace, asked.document, asked.place(params))
    if found is None:
        return None
    if isinstance(found, Refused):
        raise RequestFailed(_sentence(found))
    return {"range": asked.places.range(found.span), "placeholder": found.name}


async def on_rename(context: Context, params: JsonObject) -> JsonObject | None:
    new = params.get("newName")
    if not isinstance(new, str):
        raise JsonRpcInvalidParams("a rename must have a new name")
    asked = about(context, params)
    if asked is None:
        return None
    at = asked.place(params)
    if not await with_all_files(context, asked):
        raise RequestFailed("The workspace is still being indexed, so some uses of the name may be missed.")
    await caught_up(context, asked)
    session, publisher = context.session, context.publisher
    found = up_to_date(session, publisher, lambda: rename(asked.workspace, asked.document, at, new), _edited)
    if found is None:
        raise RequestFailed("Nothing to rename here.")
    if isinstance(found, Refused):
        raise RequestFailed(_sentence(found))
    edit = workspace_edit(context.session, context.client.facts, found.edits, found.prose)
    if edit is None:
        raise JsonRpcContentModified("a file that uses the name was deleted")
    return edit


def on_linked(context: Context, params: JsonObject) -> JsonObject | None:
    asked = about(context, params)
    spans = linked(asked.workspace, asked.document, asked.place(params)) if asked is not None else ()
    if asked is None or not spans:
        return None
    return {"ranges": [asked.places.range(span) for span in spans], "wordPattern": PATTERN}


def _edited(found: Rename | Refused | None) -> Iterable[str]:
    return {**found.edits, **found.prose} if isinstance(found, Rename) else ()


def _sentence(refused: Refused) -> str:
    """Editors show it as it is, some of them behind the name of the request."""
    return f"{refused.reason[0].upper()}{refused.reason[1:]}."
