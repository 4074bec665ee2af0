"""Call hierarchy: an item says by its URI which workflow it is, and is asked about again by it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcInvalidParams

from loop_ls.features.call_hierarchy import CallsOf, Workflow, incoming, outgoing, prepare
from loop_ls.index.workspace import Workspace
from loop_ls.server.documents.folders import canonical
from loop_ls.server.routes.requests import about, with_all_files
from loop_ls.text.json_value import JsonObject

if TYPE_CHECKING:
    from loop_ls.server.context import Context
    from loop_ls.server.documents.position_mapping import PositionMapping

_KIND = lsp.SymbolKind.Module.value


async def on_prepare(context: Context, params: JsonObject) -> list[JsonObject] | None:
    asked = about(context, params)
    if asked is None:
        return None
    at = asked.place(params)
    await with_all_files(context, asked)
    found = prepare(asked.workspace, asked.document, at)
    item = None if found is None else _item(context, found)
    return None if item is None else [item]


def on_incoming(context: Context, params: JsonObject) -> list[JsonObject] | None:
    """The places of calls lie in the calling file."""

    def written(calls: CallsOf, item: JsonObject) -> JsonObject | None:
        there = context.session.places_of(calls.workflow.uri)
        return None if there is None else {"from": item, "fromRanges": _ranges(there, calls)}

    return _other_ends(context, params, incoming, written)


def on_outgoing(context: Context, params: JsonObject) -> list[JsonObject] | None:
    here = context.session.places_of(_uri(params))

    def written(calls: CallsOf, item: JsonObject) -> JsonObject | None:
        return None if here is None else {"to": item, "fromRanges": _ranges(here, calls)}

    return _other_ends(context, params, outgoing, written)


def _other_ends(
    context: Context,
    params: JsonObject,
    ask: Callable[[Workspace, str], Iterable[CallsOf]],
    written: Callable[[CallsOf, JsonObject], JsonObject | None],
) -> list[JsonObject] | None:
    uri = _uri(params)
    known = context.session.find(uri) or context.session.indexed(uri)
    if known is None:
        return None
    found = []
    for calls in ask(known.workspace, canonical(uri)):
        item = _item(context, calls.workflow)
        entry = None if item is None else written(calls, item)
        if entry is not None:
            found.append(entry)
    return found


def _uri(params: JsonObject) -> str:
    item = params.get("item")
    uri = item.get("uri") if isinstance(item, dict) else None
    if not isinstance(uri, str):
        raise JsonRpcInvalidParams("an item of the call hierarchy must have a URI")
    return uri


def _item(context: Context, workflow: Workflow) -> JsonObject | None:
    places = context.session.places_of(workflow.uri)
    if places is None:
        return None
    found: JsonObject = {
        "name": workflow.name,
        "kind": _KIND,
        "uri": context.session.spelled(workflow.uri),
        "range": places.range(workflow.span),
        "selectionRange": places.range(workflow.name_span),
    }
    if workflow.detail:
        found["detail"] = workflow.detail
    return found


def _ranges(places: PositionMapping, calls: CallsOf) -> list[JsonObject]:
    return [places.range(span) for span in calls.places]
