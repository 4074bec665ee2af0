"""Changes of files that may be JSON: keys that come and go, in the layout of their neighbours.

What only replaces a word is in `rules.fixes.builders`, which keeps the quotes that are there.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from loop_ls.formats.common.object_parts import Part
from loop_ls.formats.common.typed_mapping import Block
from loop_ls.index.document import Document
from loop_ls.rules.engine.finding import Fix, TextEdit, Tier
from loop_ls.rules.fixes.builders import fix_of
from loop_ls.syntax import nodes
from loop_ls.syntax.edit import edits as layout
from loop_ls.syntax.incremental.piece import Piece
from loop_ls.syntax.nodes import Entry, Node, resolved
from loop_ls.text.position import Position, Span

#: What stands behind a new key: a value of JSON, which YAML reads as well.
Value = str | int | float | bool | Sequence["Value"] | Mapping[str, "Value"]


def is_json(document: Document) -> bool:
    return document.path.endswith(".json")


def add_key(piece: Piece, block: Block, key: str, value: Value, title: str, tier: Tier = Tier.SAFE) -> Fix:
    """A new last key of an object that has some."""

    def change(document: Document) -> tuple[TextEdit, ...]:
        if is_json(document):
            return (_into_object(document, piece, block.node.entries[-1], key, value),)
        found = layout.insert_entry(document.tree, piece, block.node, key, written(value))
        return tuple(TextEdit(edit.span, edit.text) for edit in found)

    return fix_of(title, change, tier)


def add_key_behind(part: Part, key: str, value: Value, title: str, tier: Tier = Tier.SAFE) -> Fix:
    """A new key behind another one, which may stand at top level."""

    def change(document: Document) -> tuple[TextEdit, ...]:
        if is_json(document):
            return (_into_object(document, part.piece, part.entry, key, value),)
        alone = nodes.Mapping(part.entry.key.span, (part.entry,))
        found = layout.insert_entry(document.tree, part.piece, alone, key, written(value), part.entry)
        return tuple(TextEdit(edit.span, edit.text) for edit in found)

    return fix_of(title, change, tier)


def add_item(part: Part, value: Value, title: str) -> Fix:
    """A new last entry of a list of objects."""

    def change(document: Document) -> tuple[TextEdit, ...]:
        found = resolved(part.node)
        if not isinstance(found, nodes.Sequence):
            return ()
        items: list[Node] = [item for item in found.items if item is not None]
        start = document.absolute(part.piece, found.span).start
        if not items:
            at = Position(start.line, start.column + 1)
            return (TextEdit(Span(at, at), written(value)),)
        last = document.absolute(part.piece, items[-1].span)
        lead = document.text.line(last.start.line)[: last.start.column]
        gap = f",{document.text.eol}{lead}" if not lead.strip() else ", "
        return (TextEdit(Span(last.end, last.end), gap + written(value)),)

    return fix_of(title, change, Tier.REVIEW)


def set_text(piece: Piece, scalar: nodes.Scalar, text: str, title: str, tier: Tier = Tier.SAFE) -> Fix:
    """Another text in the quotes or block that are there."""

    def change(document: Document) -> tuple[TextEdit, ...]:
        if is_json(document):
            return (TextEdit(document.absolute(piece, scalar.span), written(text)),)
        found = layout.set_scalar(document.tree, piece, scalar, text, flow=True)
        return tuple(TextEdit(edit.span, edit.text) for edit in found)

    return fix_of(title, change, tier)


def replace_entry(piece: Piece, entry: Entry, key: str, value: Value, title: str) -> Fix:
    """Another key with another value in the place of one. To be reviewed."""

    def change(document: Document) -> tuple[TextEdit, ...]:
        name = json.dumps(key) if is_json(document) else key
        end = entry.key.span.end if entry.value is None else entry.value.span.end
        place = document.absolute(piece, Span(entry.key.span.start, end))
        return (TextEdit(place, f"{name}: {written(value)}"),)

    return fix_of(title, change, Tier.REVIEW)


def drop_key(piece: Piece, block: Block, entry: Entry, tier: Tier = Tier.SAFE) -> Fix:
    """Without a key of an object."""

    def change(document: Document) -> tuple[TextEdit, ...]:
        found = layout.remove_entry(document.tree, piece, block.node, entry)
        return tuple(TextEdit(edit.span, edit.text) for edit in found)

    return fix_of(f"Remove `{entry.key.text}`", change, tier)


def drop_top_key(part: Part, tier: Tier = Tier.SAFE) -> Fix:
    """Without a key at top level: its lines in YAML, the comma behind it in JSON."""

    def change(document: Document) -> tuple[TextEdit, ...]:
        tops = [Entry(piece.key, piece.node) for piece in document.tree.pieces if piece.key is not None]
        whole = nodes.Mapping(
            part.entry.key.span, tuple(tops) if is_json(document) else (part.entry,), is_json(document)
        )
        entry = next((one for one in whole.entries if one.key is part.entry.key), part.entry)
        found = layout.remove_entry(document.tree, part.piece, whole, entry)
        return tuple(TextEdit(edit.span, edit.text) for edit in found)

    return fix_of(f"Remove `{part.entry.key.text}`", change, tier)


def written(value: Value) -> str:
    """A value in one line, as JSON writes it."""
    return json.dumps(value, ensure_ascii=False)


def _into_object(document: Document, piece: Piece, last: Entry, key: str, value: Value) -> TextEdit:
    """Behind `last`, on a line of its own where that is on one."""
    entry = f"{json.dumps(key)}: {written(value)}"
    end = document.absolute(piece, last.value.span if last.value is not None else last.key.span).end
    begin = document.absolute(piece, last.key.span).start
    lead = document.text.line(begin.line)[: begin.column]
    own_line = not lead.strip()
    return TextEdit(Span(end, end), f",{document.text.eol}{lead}{entry}" if own_line else f", {entry}")
