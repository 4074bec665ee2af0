"""Inlay hints, and why each is there when somebody points at one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loop_ls.features.answers import Inlay
from loop_ls.features.inlay_hints.inlay_hints import inlays
from loop_ls.server.routes.requests import Asked, about
from loop_ls.text.json_value import JsonObject
from loop_ls.text.position import Position, Span

if TYPE_CHECKING:
    from loop_ls.server.context import Context


def on_inlays(context: Context, params: JsonObject) -> list[JsonObject] | None:
    asked = about(context, params)
    if asked is None:
        return None
    found = inlays(asked.workspace, asked.document, asked.range(params), context.runs.views(asked.opened))
    return [_written(context, asked, one) for one in found]


def on_resolve(context: Context, hint: JsonObject) -> JsonObject:
    data = hint.get("data")
    if not isinstance(data, dict) or not isinstance(uri := data.get("uri"), str):
        return hint
    opened, line = context.session.find(uri), data.get("line")
    if opened is None or not isinstance(line, int):
        return hint
    span = Span(Position(line, 0), Position(line + 1, 0))
    for one in inlays(opened.workspace, opened.document, span, context.runs.views(opened)):
        if one.at.line == line and one.text == hint.get("label") and one.tooltip:
            return {**hint, "tooltip": one.tooltip}
    return hint


def _written(context: Context, asked: Asked, inlay: Inlay) -> JsonObject:
    found: JsonObject = {"position": asked.places.position(inlay.at), "label": inlay.text}
    found["paddingRight" if inlay.before else "paddingLeft"] = True
    if not inlay.tooltip:
        return found
    if context.client.facts.inlay_resolve:
        found["data"] = {"uri": asked.opened.uri, "line": inlay.at.line}
    else:
        found["tooltip"] = inlay.tooltip
    return found
