"""Code lenses. They call our commands directly, so that they work in every editor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loop_ls.features.lenses.lenses import lenses
from loop_ls.server.routes.requests import about
from loop_ls.text.json_value import JsonObject

if TYPE_CHECKING:
    from loop_ls.server.context import Context


def on_lenses(context: Context, params: JsonObject) -> list[JsonObject] | None:
    asked = about(context, params)
    if asked is None:
        return None
    found: list[JsonObject] = []
    for lens in lenses(asked.workspace, asked.document, context.runs.views(asked.opened)):
        command: JsonObject = {"title": lens.title, "command": ""}
        if lens.command is not None:
            command |= {"command": lens.command.name, "arguments": [lens.command.argument]}
        found.append({"range": asked.places.range(lens.span), "command": command})
    return found
