"""Folders, settings and files on disk that come, change and go."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lsprotocol import types

from loop_ls.server.registrations import SECTION, apply_configuration, read_configuration

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

    server.protocol.raw[types.WORKSPACE_DID_CHANGE_CONFIGURATION] = configuration

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def watched(params: types.DidChangeWatchedFilesParams) -> None:
        server.indexing.changed_on_disk([change.uri for change in params.changes])

    def folders(params: Json) -> None:
        event = params.get("event")
        event = event if isinstance(event, dict) else {}
        for name, act in (("removed", server.session.remove_folder), ("added", server.session.add_folder)):
            for folder in event.get(name) or ():
                if isinstance(folder, dict) and isinstance(uri := folder.get("uri"), str):
                    act(uri)
        server.indexing.folders_changed()

    server.protocol.raw[types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS] = folders

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def saved(params: types.DidSaveTextDocumentParams) -> None:
        """The buffer is what counts; but a client that watches nothing may have changed other files too."""
        server.indexing.saved(params.text_document.uri)
