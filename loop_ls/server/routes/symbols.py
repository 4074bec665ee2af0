"""Document symbols: the outline, converted once per part and kept as long as the part lives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lsprotocol import types

from loop_ls.features.symbols import symbols
from loop_ls.features.values import Placed, SymbolKind
from loop_ls.server.routes.asked import asked

if TYPE_CHECKING:
    from loop_ls.server.language_server import LoopServer
    from loop_ls.server.places import Places

Json = dict[str, Any]

_KINDS = {
    SymbolKind.WORKFLOW: types.SymbolKind.Module,
    SymbolKind.SECTION: types.SymbolKind.Namespace,
    SymbolKind.STEP: types.SymbolKind.Method,
    SymbolKind.LOOP: types.SymbolKind.Event,
    SymbolKind.CONSTANT: types.SymbolKind.Constant,
    SymbolKind.SETTING: types.SymbolKind.Property,
    SymbolKind.PARAMETER: types.SymbolKind.Field,
    SymbolKind.VARIABLE: types.SymbolKind.Variable,
}
KINDS = {kind: int(number) for kind, number in _KINDS.items()}
#: More is no outline any more (UP-40).
MOST = 5000


def register(server: LoopServer) -> None:
    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    def on_symbols(params: types.DocumentSymbolParams) -> list[Json] | None:
        opened = asked(server, params)
        if opened is None:
            return None
        places = server.session.places(opened.document)
        outline = symbols(opened.document)
        if server.client.hierarchical_symbols:
            return [_symbol(places, placed, 0) for placed in outline]
        return _flat(places, outline, opened.uri)


def _symbol(places: Places, placed: Placed, above: int) -> Json:
    line, symbol = placed.line + above, placed.symbol
    found: Json = {
        "name": symbol.name or "(no name)",
        "kind": KINDS[symbol.kind],
        "range": places.range(symbol.span.shift(line)),
        "selectionRange": places.range(symbol.name_span.shift(line)),
    }
    if symbol.detail:
        found["detail"] = symbol.detail
    if symbol.children:
        found["children"] = [_symbol(places, child, line) for child in symbol.children]
    return found


def _flat(places: Places, outline: tuple[Placed, ...], uri: str) -> list[Json]:
    """The older shape, for clients that know no tree."""
    found: list[Json] = []
    todo = [(placed, 0, "") for placed in reversed(outline)]
    while todo and len(found) < MOST:
        placed, above, container = todo.pop()
        line, symbol = placed.line + above, placed.symbol
        entry: Json = {
            "name": symbol.name or "(no name)",
            "kind": KINDS[symbol.kind],
            "location": {"uri": uri, "range": places.range(symbol.span.shift(line))},
        }
        if container:
            entry["containerName"] = container
        found.append(entry)
        todo += [(child, line, symbol.name) for child in reversed(symbol.children)]
    return found
