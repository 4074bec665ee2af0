"""Has the editor hold other texts, as one edit of the lines that differ, which one undo takes back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from loop_ls.server.client import Client, Refused
from loop_ls.text.json_value import Json, JsonObject
from loop_ls.text.lines import Text
from loop_ls.text.position import Position, Span

if TYPE_CHECKING:
    from loop_ls.server.documents.session import OpenDocument, Session


async def replace_text(session: Session, client: Client, opened: OpenDocument, text: str, label: str) -> str | None:
    """Why the editor does not hold it; None: it does."""
    return await replace_texts(session, client, [(opened, text)], label)


async def replace_texts(
    session: Session, client: Client, texts: Sequence[tuple[OpenDocument, str]], label: str
) -> str | None:
    """The same of several files, of which some may not be open: nobody knows a version of those."""
    edits = [
        (opened, [session.places(opened.document).edit(*_middle(opened.document.text, new))]) for opened, new in texts
    ]
    edit: JsonObject = {"changes": {opened.uri: list[Json](one) for opened, one in edits}}
    if client.facts.document_changes:
        edit = {
            "documentChanges": [
                {"textDocument": _version(session, opened), "edits": list[Json](one)} for opened, one in edits
            ]
        }
    try:
        answer = await client.ask(lsp.WORKSPACE_APPLY_EDIT, {"label": label, "edit": edit})
    except (Refused, TimeoutError) as error:
        return f"The editor rejected the edit: {error}."
    if not isinstance(answer, dict) or answer.get("applied") is not True:
        return "The editor rejected the edit."
    return None


def _version(session: Session, opened: OpenDocument) -> JsonObject:
    is_open = session.open.get(opened.key) is opened
    return {"uri": opened.uri, "version": opened.document.version if is_open else None}


def _middle(before: Text, after: str) -> tuple[Span, str]:
    """The lines that differ, in one piece."""
    old, new = str(before).splitlines(keepends=True), after.splitlines(keepends=True)
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    start = Position(head, 0) if head < len(old) else before.end
    end = Position(len(old) - tail, 0) if tail else before.end
    return Span(start, end), "".join(new[head : len(new) - tail])
