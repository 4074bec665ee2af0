"""Code lenses. They call our commands directly, so that they work in every editor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from loop_ls.features.lenses.lenses import lenses
from loop_ls.server.routes.requests import about
from loop_ls.server.rpc import methods

if TYPE_CHECKING:
    from loop_ls.server.language_server import LoopServer

Json = dict[str, Any]


def register(server: LoopServer) -> None:
    def on_lenses(params: Json) -> list[Json] | None:
        asked = about(server, params)
        if asked is None:
            return None
        found = []
        for lens in lenses(asked.workspace, asked.document, server.runs.views(asked.opened)):
            command: Json = {"title": lens.title, "command": ""}
            if lens.command is not None:
                command |= {"command": lens.command.name, "arguments": [lens.command.argument]}
            found.append({"range": asked.places.range(lens.span), "command": command})
        return found

    server.protocol.raw[methods.TEXT_DOCUMENT_CODE_LENS] = on_lenses
