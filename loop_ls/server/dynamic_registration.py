"""What is arranged with the client after `initialized`: settings, watched files, warm converters."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from loop_ls.server.rpc import methods
from loop_ls.server.rpc.protocol import Refused

if TYPE_CHECKING:
    from loop_ls.server.language_server import LoopServer

logger = logging.getLogger(__name__)

Json = dict[str, Any]
SECTION = "loopLs"
#: Files that can change what other files mean; and whatever is made or deleted, since a whole folder is
#: told of by its own name alone (UP-26, UP-36).
WATCHERS = (
    {"globPattern": "**/*.{yaml,yml,json}"},
    {"globPattern": "**/.gitignore", "kind": 2},
    {"globPattern": "**/*", "kind": 1 | 4},
)


async def register(server: LoopServer) -> None:
    registrations = []
    if server.client.watched_files:
        options = {"watchers": list(WATCHERS)}
        registrations.append(_registration(methods.WORKSPACE_DID_CHANGE_WATCHED_FILES, options))
    if server.client.configuration_registration:
        registrations.append(_registration(methods.WORKSPACE_DID_CHANGE_CONFIGURATION, {"section": SECTION}))
    if registrations:
        try:
            await server.protocol.ask(methods.CLIENT_REGISTER_CAPABILITY, {"registrations": registrations})
            server.watches_files = server.client.watched_files
        except (Refused, TimeoutError) as error:
            logger.info("The client registers nothing: %s", error)
    await read_configuration(server)


def _registration(method: str, options: Json) -> Json:
    return {"id": f"loop-ls/{method}", "method": method, "registerOptions": options}


async def read_configuration(server: LoopServer) -> None:
    """Ask for the section `loopLs`. Whatever comes back, the server goes on (UP-30)."""
    if not server.client.configuration:
        return
    try:
        answer = await server.protocol.ask(methods.WORKSPACE_CONFIGURATION, {"items": [{"section": SECTION}]})
    except (Refused, TimeoutError) as error:
        logger.warning("The editor's settings cannot be read, defaults are used: %s", error or "no answer in time")
        return
    section = answer[0] if isinstance(answer, list) and answer else None
    if section is not None and not isinstance(section, dict):
        logger.warning("The editor's settings for `%s` are no object, defaults are used: %r", SECTION, section)
        section = None
    apply_configuration(server, section)


def apply_configuration(server: LoopServer, section: Any) -> None:
    """Use these settings of the editor, and look at every file again if they differ."""
    if server.session.set_editor_settings(section):
        server.publisher.publish_all()
        server.refresh.diagnostics()
