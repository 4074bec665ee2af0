"""Code lenses. They call our commands directly, so that they work in every editor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lsprotocol import types

from loop_ls.features.lenses import lenses
from loop_ls.server.routes.asked import asked

if TYPE_CHECKING:
    from loop_ls.server.language_server import LoopServer

Json = dict[str, Any]


def register(server: LoopServer) -> None:
    @server.feature(types.TEXT_DOCUMENT_CODE_LENS)
    def on_lenses(params: types.CodeLensParams) -> list[Json] | None:
        opened = asked(server, params)
        if opened is None:
            return None
        places = server.session.places(opened.document)
        found = []
        for lens in lenses(opened.folder.workspace, opened.document, server.runs.views(opened)):
            command: Json = {"title": lens.title, "command": ""}
            if lens.command is not None:
                command |= {"command": lens.command.name, "arguments": [lens.command.argument]}
            found.append({"range": places.range(lens.span), "command": command})
        return found
