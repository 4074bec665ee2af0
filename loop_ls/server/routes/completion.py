"""Completion and its later documentation."""

from __future__ import annotations

import os
from itertools import islice
from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from loop_ls.features.answers import Item, ItemKind
from loop_ls.features.complete import completion
from loop_ls.features.text.plain_text import plain_text
from loop_ls.server.routes.requests import Asked, named
from loop_ls.text.json_value import JsonObject

if TYPE_CHECKING:
    from loop_ls.server.context import Context
    from loop_ls.server.documents.position_mapping import PositionMapping
    from loop_ls.server.documents.session import OpenDocument


KINDS = {
    ItemKind.KEY: lsp.CompletionItemKind.Property.value,
    ItemKind.VALUE: lsp.CompletionItemKind.EnumMember.value,
    ItemKind.VARIABLE: lsp.CompletionItemKind.Variable.value,
    ItemKind.ELEMENT: lsp.CompletionItemKind.Reference.value,
    ItemKind.WORKFLOW: lsp.CompletionItemKind.Module.value,
    ItemKind.PARAMETER: lsp.CompletionItemKind.Field.value,
    ItemKind.PROVIDER: lsp.CompletionItemKind.Interface.value,
    ItemKind.MODEL: lsp.CompletionItemKind.Class.value,
    ItemKind.CRITERION: lsp.CompletionItemKind.Text.value,
    ItemKind.SNIPPET: lsp.CompletionItemKind.Snippet.value,
    ItemKind.FILE: lsp.CompletionItemKind.File.value,
}
#: Documentation of so many items is told at once to a client that will not ask for it.
_MOST_TOLD = 50
#: Of a folder with more files only some are offered.
_MOST_FILES = 1000


def complete(context: Context, params: JsonObject) -> JsonObject | None:
    opened = context.session.find(named(params))  # an empty file may become one of ours
    if opened is None:
        return None
    places = context.session.places(opened.document)
    at = Asked(opened, opened.document, places).place(params)
    found = completion.complete(opened.workspace, opened.document, at, opened.workspace.settings, listing)
    if not found.items and opened.document.format is None:
        return None
    span = places.range(found.span)
    tell = not context.client.facts.resolve_documentation and len(found.items) <= _MOST_TOLD
    return {
        "isIncomplete": found.incomplete or not opened.folder.indexed,  # more may be known in a moment
        "items": [_item(context, opened, places, span, item, tell) for item in found.items],
    }


def resolve(context: Context, item: JsonObject) -> JsonObject:
    data = item.get("data")
    if not isinstance(data, dict) or not isinstance(uri := data.get("uri"), str):
        return item
    opened, about = context.session.find(uri), data.get("about")
    if opened is None or not isinstance(about, list) or not all(isinstance(part, str) for part in about):
        return item
    told = completion.describe(opened.workspace, opened.document, tuple(about))
    return item if told is None else {**item, "documentation": _told(context, told)}


def listing(folder: str) -> list[tuple[str, bool]]:
    """What lies in a folder, as far as anybody wants to read it."""
    try:
        with os.scandir(folder) as entries:
            return [(entry.name, entry.is_dir()) for entry in islice(entries, _MOST_FILES)]
    except (OSError, ValueError):
        return []


def _item(
    context: Context, opened: OpenDocument, places: PositionMapping, span: JsonObject, item: Item, tell: bool
) -> JsonObject:
    client = context.client.facts
    snippet = item.snippet if client.snippets else None
    found: JsonObject = {
        "label": item.label,
        "kind": KINDS[item.kind],
        "textEdit": {
            "range": span if item.span is None else places.range(item.span),
            "newText": item.text if snippet is None else snippet,
        },
        "insertTextMode": 1,
    }
    if snippet is not None:
        found["insertTextFormat"] = 2
    if item.detail:
        found["detail"] = item.detail
    if item.sort:
        found["sortText"] = item.sort
    if item.filter is not None:
        found["filterText"] = item.filter
    if item.preselect:
        found["preselect"] = True
    if item.more:
        found["additionalTextEdits"] = [{"range": places.range(e.span), "newText": e.text} for e in item.more]
    if item.again and client.suggest_command:
        found["command"] = {"title": "Suggest", "command": client.suggest_command}
    documentation = item.documentation
    if item.about and documentation is None:
        if tell:
            documentation = completion.describe(opened.workspace, opened.document, item.about)
        else:
            found["data"] = {"uri": opened.uri, "about": list(item.about)}
    if documentation is not None:
        found["documentation"] = _told(context, documentation)
    return found


def _told(context: Context, text: str) -> JsonObject | str:
    """Markdown only where the client renders it."""
    return {"kind": "markdown", "value": text} if context.client.facts.completion_markdown else plain_text(text)
