"""Formatting: of a file, where nothing changes its meaning, and of a line that was just begun."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loop_ls.features.formatting import formatting
from loop_ls.features.on_type import on_type
from loop_ls.server.routes.requests import Asked, about
from loop_ls.text.json_value import JsonObject

if TYPE_CHECKING:
    from collections.abc import Iterable

    from loop_ls.rules.engine.finding import TextEdit
    from loop_ls.server.context import Context


def on_formatting(context: Context, params: JsonObject) -> list[JsonObject] | None:
    """No edits for a file that cannot be read or would not be the same afterwards: whoever formats
    on saving is not interrupted by an error about what the findings say already."""
    asked = about(context, params)
    return None if asked is None else _written(asked, formatting(asked.document))


def on_typed(context: Context, params: JsonObject) -> list[JsonObject] | None:
    asked = about(context, params)
    if asked is None:
        return None
    return _written(asked, on_type(asked.document, asked.place(params), str(params.get("ch", ""))))


def _written(asked: Asked, edits: Iterable[TextEdit]) -> list[JsonObject]:
    return [{"range": asked.places.range(edit.span), "newText": edit.text} for edit in edits]
