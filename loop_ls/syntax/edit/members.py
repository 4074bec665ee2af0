"""The members of one object, wherever it stands: set, added and taken out as its file is written.

An object is a whole file, whose entries are pieces of their own, or a mapping inside of one; YAML in block or
flow style, or JSON. Comments, order and layout of everything else stay as they are.
"""

from __future__ import annotations

import json
from collections.abc import Mapping as Object

from loop_ls.syntax.edit.edits import Edit, insert_entry, remove_entry, set_scalar
from loop_ls.syntax.edit.layout import Layout
from loop_ls.syntax.edit.render import scalar_text
from loop_ls.syntax.incremental.piece import Piece
from loop_ls.syntax.nodes import Entry, Mapping, Scalar
from loop_ls.syntax.tree import Tree
from loop_ls.text.json_value import Json
from loop_ls.text.position import Position, Span


class Members:
    """Of a file without a `mapping`. Edits hold for the tree that was given, one call of one object at a time."""

    def __init__(self, tree: Tree, in_json: bool, piece: Piece | None = None, mapping: Mapping | None = None) -> None:
        self._tree, self._json, self._mapping = tree, in_json, mapping
        if mapping is not None and piece is not None:
            self._rows = [(piece, entry) for entry in mapping.entries if not entry.merged]
        else:
            self._rows = [(one, Entry(one.key, one.node)) for one in tree.pieces if one.key is not None]

    def set(self, name: str, value: Json, after: str | None = None) -> list[Edit]:
        """`name` with this value; where it is missing, behind `after`, else at the end."""
        row = self._row(name)
        if row is None:
            return self._add(name, value, self._row(after) if after else None)
        piece, entry = row
        if not self._json and isinstance(value, str) and isinstance(entry.value, Scalar):
            return set_scalar(self._tree, piece, entry.value, value, self._flow)
        start = Layout(self._tree, piece).behind_colon(entry)
        end = start if entry.value is None else entry.value.span.end
        return [self._edit(piece, Span(start, end), f" {self._inline(value)}")]

    def remove(self, name: str) -> list[Edit]:
        row = self._row(name)
        if row is None:
            return []
        piece, entry = row
        if self._json:
            return [self._out_of_json(piece, entry)]
        if self._mapping is not None:
            return remove_entry(self._tree, piece, self._mapping, entry)
        layout = Layout(self._tree, piece)
        first, last = entry.key.span.start, _end(layout, entry)
        return [self._edit(piece, layout.lines(first.line, last.line), "")]

    # -- adding -----------------------------------------------------------------------------------

    def _add(self, name: str, value: Json, after: tuple[Piece, Entry] | None) -> list[Edit]:
        piece, entry = after or self._rows[-1]
        layout = Layout(self._tree, piece)
        if self._json:
            start = entry.key.span.start
            gap = f"{self._tree.text.eol}{' ' * start.column}" if layout.starts_line(start) else " "
            written = f',{gap}"{name}": {self._inline(value)}'
            return [self._edit(piece, Span(end := _end(layout, entry), end), written)]
        if self._mapping is not None:
            written = self._inline(value) if self._flow or not isinstance(value, Object) else _block(value)
            return insert_entry(self._tree, piece, self._mapping, name, written, entry)
        written = f" {self._inline(value)}" if not isinstance(value, Object) else _block(value)
        end = layout.line_end(_end(layout, entry))
        text = f"\n{name}:{written}".replace("\n", self._tree.text.eol)
        return [self._edit(piece, Span(end, end), text)]

    def _out_of_json(self, piece: Piece, entry: Entry) -> Edit:
        at = next(place for place, row in enumerate(self._rows) if row[1].key is entry.key)
        layout = Layout(self._tree, piece)
        if at + 1 < len(self._rows):
            return self._edit(piece, Span(entry.key.span.start, self._rows[at + 1][1].key.span.start), "")
        end = _end(layout, entry)
        start = _end(layout, self._rows[at - 1][1]) if at else entry.key.span.start
        return self._edit(piece, Span(start, end), "")

    # -- the file ---------------------------------------------------------------------------------

    @property
    def _flow(self) -> bool:
        return self._mapping is not None and self._mapping.flow

    def _row(self, name: str) -> tuple[Piece, Entry] | None:
        return next((row for row in self._rows if row[1].key.text == name), None)

    def _inline(self, value: Json) -> str:
        if self._json:
            return json.dumps(value, ensure_ascii=False)
        if isinstance(value, Object):
            return "{" + ", ".join(f"{key}: {_plain(one, True)}" for key, one in value.items()) + "}"
        return _plain(value, self._flow)

    def _edit(self, piece: Piece, span: Span, text: str) -> Edit:
        return Edit(span.shift(self._tree.start_of(piece)), text)


def _block(value: Object[str, Json]) -> str:
    return "".join(f"\n  {key}: {_plain(one, False)}" for key, one in value.items())


def _plain(value: Json, flow: bool) -> str:
    return scalar_text(value, flow) if isinstance(value, str) else json.dumps(value)


def _end(layout: Layout, entry: Entry) -> Position:
    return layout.behind_colon(entry) if entry.value is None else entry.value.span.end
