"""Aliases behind a `*`: the anchors that are written above, nearest first."""

from __future__ import annotations

from loop_ls.features.anchors import typed_alias, written_before
from loop_ls.features.answers import Completions, Item, ItemKind
from loop_ls.index.document import Document
from loop_ls.text.position import Position


def aliases(document: Document, at: Position) -> Completions | None:
    """None where no alias is being typed."""
    if not 0 <= at.line < len(document.text.lines) or "*" not in document.text.lines[at.line]:
        return None
    span = typed_alias(document.text.lines[at.line], at)
    if span is None:
        return None
    found = written_before(document, at.line)
    items = (
        Item(f"*{name}", ItemKind.VALUE, f"*{name}", detail=_line_of(document, line), sort=f"{place:03}")
        for place, (name, line) in enumerate(found)
    )
    return Completions(span, tuple(items))


def _line_of(document: Document, line: int) -> str:
    return document.text.lines[line].strip()
