"""Folders, settings and files on disk that come, change and go."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from loop_ls.server.dynamic_registration import SECTION, apply_configuration, read_configuration
from loop_ls.server.routes.requests import listed, named
from loop_ls.server.rpc import methods

if TYPE_CHECKING:
    from loop_ls.server.language_server import LoopServer

Json = dict[str, Any]


def register(server: LoopServer) -> None:
    async def configuration(params: Json) -> None:
        """Some clients send the settings along, some only say that they changed."""
        settings = params.get("settings")
        section = settings.get(SECTION) if isinstance(settings, dict) else None
        if isinstance(section, dict):
            apply_configuration(server, section)
        else:
            await read_configuration(server)

    server.protocol.raw[methods.WORKSPACE_DID_CHANGE_CONFIGURATION] = configuration

    def watched(params: Json) -> None:
        changes = [change.get("uri") for change in listed(params, "changes")]
        server.indexing.changed_on_disk([uri for uri in changes if isinstance(uri, str)])

    server.protocol.raw[methods.WORKSPACE_DID_CHANGE_WATCHED_FILES] = watched

    def folders(params: Json) -> None:
        event = params.get("event")
        event = event if isinstance(event, dict) else {}
        for name, act in (("removed", server.session.remove_folder), ("added", server.session.add_folder)):
            for folder in listed(event, name):
                if isinstance(uri := folder.get("uri"), str):
                    act(uri)
        server.indexing.folders_changed()

    server.protocol.raw[methods.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS] = folders

    def saved(params: Json) -> None:
        """The buffer is what counts; but a client that watches nothing may have changed other files too."""
        server.texts.saved(named(params))
        server.indexing.saved(named(params))

    server.protocol.raw[methods.TEXT_DOCUMENT_DID_SAVE] = saved
