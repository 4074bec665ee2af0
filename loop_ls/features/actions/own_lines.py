"""The lines on which an action of a step or loop is looked for: where it begins, its name, and what makes its loop."""

from __future__ import annotations

from loop_ls.index.document import Document
from loop_ls.index.element import Element

_OF_LOOP = ("workflow", "mode", "items", "max_iterations", "until")


def own_lines(document: Document, element: Element) -> frozenset[int]:
    """Absolute line numbers; of a text of several lines all of them."""
    start = document.tree.start_of(element.piece)
    found = {start + element.span.start.line}
    fields = [element.block.fields.get(name) for name in ("name", "loop")]
    if element.loop is not None:
        fields += [element.loop.fields.get(name) for name in _OF_LOOP]
    for field in fields:
        if field is None or field.entry.merged:
            continue
        key = field.entry.key.span.start.line
        last = key if field.key.name == "loop" else max(key, field.span.end.line - (field.span.end.column == 0))
        found |= set(range(start + key, start + last + 1))
    return frozenset(found)
