"""The outline as JSON text: each part of a file is written once, and only its lines are filled in afterwards.

An outline is asked for after every pause in typing and is the longest answer there is; of its some thousand
parts one has changed.
"""

from __future__ import annotations

import json
from typing import NamedTuple

from lsprotocol import types as lsp

from loop_ls.features.answers import Placed, Symbol, SymbolKind
from loop_ls.server.documents.position_mapping import PositionMapping
from loop_ls.server.rpc.raw_json import Written, sequence
from loop_ls.text.position import Position

KINDS = {
    SymbolKind.WORKFLOW: lsp.SymbolKind.Module.value,
    SymbolKind.SECTION: lsp.SymbolKind.Namespace.value,
    SymbolKind.STEP: lsp.SymbolKind.Method.value,
    SymbolKind.LOOP: lsp.SymbolKind.Event.value,
    SymbolKind.CONSTANT: lsp.SymbolKind.Constant.value,
    SymbolKind.SETTING: lsp.SymbolKind.Property.value,
    SymbolKind.PARAMETER: lsp.SymbolKind.Field.value,
    SymbolKind.VARIABLE: lsp.SymbolKind.Variable.value,
}
#: Documents whose parts are remembered.
_DOCUMENTS = 4


class _Part(NamedTuple):
    """`form` has a `%d` for each of `lines`, which count from the line of the part. `text` is what it was
    with that line being `at`."""

    symbol: Symbol
    form: str
    lines: tuple[int, ...]
    at: int
    text: Written

    def moved(self, at: int) -> _Part:
        return self._replace(at=at, text=Written(self.form % tuple([at + line for line in self.lines])))


_Known = dict[tuple[int, bool], _Part]


class Outlines:
    """Remembers the parts of the last documents that were asked about."""

    def __init__(self) -> None:
        self._known: dict[str, _Known] = {}

    def written(
        self, key: str, places: PositionMapping, outline: tuple[Placed, ...], shown: set[int] | None
    ) -> list[Written]:
        """The outline of the document `key`; of `shown` parts only, by their identity."""
        writer = _Writer(places, shown, self._known.pop(key, {}))
        found = [writer.written(placed, 0) for placed in outline if shown is None or id(placed) in shown]
        self._known[key] = writer.fresh
        while len(self._known) > _DOCUMENTS:
            self._known.pop(next(iter(self._known)))
        return found


class _Writer:
    def __init__(self, places: PositionMapping, shown: set[int] | None, known: _Known) -> None:
        self._places, self._shown, self._known = places, shown, known
        self.fresh: _Known = {}

    def written(self, placed: Placed, above: int) -> Written:
        line, symbol = placed.line + above, placed.symbol
        children = self._children(symbol)
        if symbol.kind is SymbolKind.SECTION:  # made anew with every outline, since its parts move
            return self._section(symbol, line, children)
        if children and len(children) < len(symbol.children):
            return self._part(symbol, line, children).text
        key = (id(symbol), bool(children))
        part = self._known.get(key)
        if part is None:
            part = self._part(symbol, line, children)
        elif part.at != line:
            part = part.moved(line)
        self.fresh[key] = part
        return part.text

    def _children(self, symbol: Symbol) -> list[Placed]:
        return [child for child in symbol.children if self._shown is None or id(child) in self._shown]

    def _section(self, symbol: Symbol, line: int, children: list[Placed]) -> Written:
        form, lines = self._form(symbol, line, 0)
        head = form % tuple([line + one for one in lines])
        if not children:
            return Written(head + "}")
        return Written(f'{head},"children":{sequence([self.written(child, line) for child in children])}}}')

    def _part(self, symbol: Symbol, line: int, children: list[Placed]) -> _Part:
        form, lines = self._whole(symbol, line, 0, children)
        return _Part(symbol, form, tuple(lines), -1, Written()).moved(line)

    def _whole(self, symbol: Symbol, line: int, offset: int, children: list[Placed]) -> tuple[str, list[int]]:
        form, lines = self._form(symbol, line, offset)
        inner = []
        for child in children:
            at = offset + child.line
            text, more = self._whole(child.symbol, line, at, self._children(child.symbol))
            inner.append(text)
            lines += more
        return form + (f',"children":[{",".join(inner)}]}}' if inner else "}"), lines

    def _form(self, symbol: Symbol, line: int, offset: int) -> tuple[str, list[int]]:
        """The members of a symbol without its children, and the lines in them, counted from the part."""
        places = (*symbol.span, *symbol.name_span)
        spots = [f'{{"line":%d,"character":{self._column(at, line + offset)}}}' for at in places]
        about = {"name": symbol.name or "(no name)", "kind": KINDS[symbol.kind]}
        if symbol.detail:
            about["detail"] = symbol.detail
        told = json.dumps(about, separators=(",", ":"))[:-1].replace("%", "%%")
        start, end, name_start, name_end = spots
        spans = f'"range":{{"start":{start},"end":{end}}},"selectionRange":{{"start":{name_start},"end":{name_end}}}'
        return f"{told},{spans}", [at.line + offset for at in places]

    def _column(self, at: Position, line: int) -> int:
        return self._places.position(Position(at.line + line, at.column))["character"]
