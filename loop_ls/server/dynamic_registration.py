"""What is arranged with the client after `initialized`: settings, watched files, warm converters."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from loop_ls.server.client import Refused
from loop_ls.text.json_value import JsonObject

if TYPE_CHECKING:
    from loop_ls.server.context import Context

logger = logging.getLogger(__name__)

SECTION = "loopLs"
#: Files that can change what other files mean; and whatever is made or deleted, since a whole folder is
#: told of by its own name alone (UP-26, UP-36).
WATCHERS: tuple[JsonObject, ...] = (
    {"globPattern": "**/*.{yaml,yml,json}"},
    {"globPattern": "**/{roles,.claude/agents}/*.md"},
    {"globPattern": "**/.gitignore", "kind": 2},
    {"globPattern": "**/*", "kind": 1 | 4},
)


async def register(context: Context) -> None:
    registrations = []
    if context.client.facts.watched_files:
        options: JsonObject = {"watchers": list(WATCHERS)}
        registrations.append(_registration(lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES, options))
    if context.client.facts.configuration_registration:
        registrations.append(_registration(lsp.WORKSPACE_DID_CHANGE_CONFIGURATION, {"section": SECTION}))
    if registrations:
        try:
            await context.client.ask(lsp.CLIENT_REGISTER_CAPABILITY, {"registrations": registrations})
            context.client.watches_files = context.client.facts.watched_files
        except (Refused, TimeoutError) as error:
            logger.info("The client does not support dynamic registration: %s", error)
    await read_configuration(context)


def _registration(method: str, options: JsonObject) -> JsonObject:
    return {"id": f"loop-ls/{method}", "method": method, "registerOptions": options}


async def read_configuration(context: Context) -> None:
    """Ask for the section `loopLs`. Whatever comes back, the server goes on (UP-30)."""
    if not context.client.facts.configuration:
        return
    try:
        answer = await context.client.ask(lsp.WORKSPACE_CONFIGURATION, {"items": [{"section": SECTION}]})
    except (Refused, TimeoutError) as error:
        logger.warning("The editor's settings cannot be read, defaults are used: %s", error or "no answer in time")
        return
    section = answer[0] if isinstance(answer, list) and answer else None
    if section is not None and not isinstance(section, dict):
        logger.warning("The editor's settings for `%s` are not an object, defaults are used: %r", SECTION, section)
        section = None
    apply_configuration(context, section)


def apply_configuration(context: Context, section: object) -> None:
    """Use these settings of the editor, and look at every file again if they differ."""
    if context.session.set_editor_settings(section):
        context.publisher.publish_all()
        context.refresh.diagnostics()
