"""Documents that are opened, changed and closed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loop_ls.server.routes.requests import named
from loop_ls.text.json_value import JsonObject

if TYPE_CHECKING:
    from loop_ls.server.context import Context


def opened(context: Context, params: JsonObject) -> None:
    context.texts.opened(params)


def changed(context: Context, params: JsonObject) -> None:
    context.texts.changed(params)


def closed(context: Context, params: JsonObject) -> None:
    context.texts.closed(params)


def saved(context: Context, params: JsonObject) -> None:
    """The buffer is what counts; but a client that watches nothing may have changed other files too."""
    uri = named(params)
    context.texts.saved(uri)
    context.indexing.saved(uri)
