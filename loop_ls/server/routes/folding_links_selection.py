"""The shape of a text: links out of it, what folds, what a growing selection takes in."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pygls.exceptions import JsonRpcInvalidParams

from loop_ls.features.answers import Fold
from loop_ls.features.folding import folds
from loop_ls.features.links import links
from loop_ls.features.selection import selection
from loop_ls.server.routes.requests import Asked, about
from loop_ls.text.json_value import JsonObject

if TYPE_CHECKING:
    from loop_ls.server.context import Context
    from loop_ls.text.position import Position


def on_links(context: Context, params: JsonObject) -> list[JsonObject] | None:
    asked = about(context, params)
    if asked is None:
        return None
    spelled = context.session.spelled
    return [
        {"range": asked.places.range(one.span), "target": spelled(one.target), "tooltip": one.tooltip}
        for one in links(asked.workspace, asked.document, _exists)
    ]


def on_folds(context: Context, params: JsonObject) -> list[JsonObject] | None:
    asked = about(context, params)
    if asked is None:
        return None
    found = list(folds(asked.document))
    # The outermost ones are what a client with a limit wants.
    limit = context.client.facts.fold_limit
    if limit is not None and len(found) > limit:
        found = sorted(sorted(found, key=lambda fold: fold.end - fold.start)[-limit:], key=lambda fold: fold.start)
    return [_fold(one) for one in found]


def on_selection(context: Context, params: JsonObject) -> list[JsonObject] | None:
    asked = about(context, params)
    if asked is None:
        return None
    positions = params.get("positions")
    if not isinstance(positions, list):
        raise JsonRpcInvalidParams("`positions` must be a list of positions")
    return [_chain(asked, asked.position(one)) for one in positions]


def _exists(path: str) -> bool:
    try:
        return Path(path).is_file()
    except (OSError, ValueError):
        return False


def _fold(fold: Fold) -> JsonObject:
    entry: JsonObject = {"startLine": fold.start, "endLine": fold.end}
    return {**entry, "kind": "comment"} if fold.comment else entry


def _chain(asked: Asked, at: Position) -> JsonObject:
    """From the smallest outwards: each range names the one around it."""
    found: JsonObject | None = None
    for span in reversed(selection(asked.document, at)):
        entry: JsonObject = {"range": asked.places.range(span)}
        if found is not None:
            entry["parent"] = found
        found = entry
    empty = asked.places.position(at)
    return found or {"range": {"start": empty, "end": empty}}
