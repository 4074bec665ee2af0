"""Call hierarchy: an item says by its URI which workflow it is, and is asked about again by it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from loop_ls.features.call_hierarchy import CallsOf, Workflow, incoming, outgoing, prepare
from loop_ls.index.workspace import Workspace
from loop_ls.server.documents.folders import canonical
from loop_ls.server.routes.requests import about, with_all_files
from loop_ls.server.rpc import methods
from loop_ls.server.rpc.errors import JsonRpcInvalidParams

if TYPE_CHECKING:
    from loop_ls.server.documents.position_mapping import Places
    from loop_ls.server.language_server import LoopServer

Json = dict[str, Any]
_KIND = 2  # Module


def register(server: LoopServer) -> None:
    async def on_prepare(params: Json) -> list[Json] | None:
        asked = about(server, params)
        if asked is None:
            return None
        at = asked.place(params)
        await with_all_files(server, asked)
        found = prepare(asked.workspace, asked.document, at)
        item = None if found is None else _item(server, found)
        return None if item is None else [item]

    def on_incoming(params: Json) -> list[Json] | None:
        """The places of calls lie in the calling file."""

        def written(calls: CallsOf, item: Json) -> Json | None:
            there = server.session.places_of(calls.workflow.uri)
            return None if there is None else {"from": item, "fromRanges": _ranges(there, calls)}

        return _other_ends(server, params, incoming, written)

    def on_outgoing(params: Json) -> list[Json] | None:
        here = server.session.places_of(_uri(params))

        def written(calls: CallsOf, item: Json) -> Json | None:
            return None if here is None else {"to": item, "fromRanges": _ranges(here, calls)}

        return _other_ends(server, params, outgoing, written)

    server.protocol.raw |= {
        methods.TEXT_DOCUMENT_PREPARE_CALL_HIERARCHY: on_prepare,
        methods.CALL_HIERARCHY_INCOMING_CALLS: on_incoming,
        methods.CALL_HIERARCHY_OUTGOING_CALLS: on_outgoing,
    }


def _other_ends(
    server: LoopServer,
    params: Json,
    ask: Callable[[Workspace, str], Iterable[CallsOf]],
    written: Callable[[CallsOf, Json], Json | None],
) -> list[Json] | None:
    uri = _uri(params)
    known = server.session.find(uri) or server.session.indexed(uri)
    if known is None:
        return None
    found = []
    for calls in ask(known.workspace, canonical(uri)):
        item = _item(server, calls.workflow)
        entry = None if item is None else written(calls, item)
        if entry is not None:
            found.append(entry)
    return found


def _uri(params: Json) -> str:
    item = params.get("item")
    uri = item.get("uri") if isinstance(item, dict) else None
    if not isinstance(uri, str):
        raise JsonRpcInvalidParams("an item of the call hierarchy has a URI")
    return uri


def _item(server: LoopServer, workflow: Workflow) -> Json | None:
    places = server.session.places_of(workflow.uri)
    if places is None:
        return None
    found: Json = {
        "name": workflow.name,
        "kind": _KIND,
        "uri": server.session.spelled(workflow.uri),
        "range": places.range(workflow.span),
        "selectionRange": places.range(workflow.name_span),
    }
    if workflow.detail:
        found["detail"] = workflow.detail
    return found


def _ranges(places: Places, calls: CallsOf) -> list[Json]:
    return [places.range(span) for span in calls.places]
