"""Folders, settings and files on disk that come, change and go."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loop_ls.server.dynamic_registration import SECTION, apply_configuration, read_configuration
from loop_ls.server.routes.requests import listed
from loop_ls.text.json_value import JsonObject

if TYPE_CHECKING:
    from loop_ls.server.context import Context


async def configuration(context: Context, params: JsonObject) -> None:
    """Some clients send the settings along, some only say that they changed."""
    settings = params.get("settings")
    section = settings.get(SECTION) if isinstance(settings, dict) else None
    if isinstance(section, dict):
        apply_configuration(context, section)
    else:
        await read_configuration(context)


def watched(context: Context, params: JsonObject) -> None:
    changes = [change.get("uri") for change in listed(params, "changes")]
    context.indexing.changed_on_disk([uri for uri in changes if isinstance(uri, str)])


def folders(context: Context, params: JsonObject) -> None:
    event = params.get("event")
    event = event if isinstance(event, dict) else {}
    for name, act in (("removed", context.session.remove_folder), ("added", context.session.add_folder)):
        for folder in listed(event, name):
            if isinstance(uri := folder.get("uri"), str):
                act(uri)
    context.indexing.folders_changed()
