"""Document symbols: the outline, converted once per part and kept as long as the part lives."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from loop_ls.features.answers import Placed
from loop_ls.features.symbols.document_symbols import symbols
from loop_ls.server.documents.outline import KINDS
from loop_ls.server.routes.requests import about
from loop_ls.server.rpc.raw_json import Written, sequence, written
from loop_ls.text.json_value import JsonObject

if TYPE_CHECKING:
    from loop_ls.server.context import Context
    from loop_ls.server.documents.position_mapping import PositionMapping


#: More is no outline any more (UP-40).
MOST = 5000


def on_symbols(context: Context, params: JsonObject) -> list[JsonObject] | Written | None:
    asked = about(context, params)
    if asked is None:
        return None
    places = asked.places
    outline = symbols(asked.document)
    shown, left = _shown(outline)
    if context.client.facts.hierarchical_symbols:
        found = context.outlines.written(asked.opened.key, places, outline, shown)
        return sequence([*found, written(_note(json.loads(found[0]), left))] if left else found)
    flat = _flat(places, outline, asked.opened.uri, shown)
    return [*flat, _note(flat[0], left)] if left else flat


def _shown(outline: tuple[Placed, ...]) -> tuple[set[int] | None, int]:
    """Which symbols fit, by identity, and how many do not. What lies deepest gives way first."""
    level, shown = list(outline), list(outline)
    while level := [child for placed in level for child in placed.symbol.children]:
        shown += level
    return (None, 0) if len(shown) <= MOST else ({id(placed) for placed in shown[:MOST]}, len(shown) - MOST)


def _note(first: JsonObject, left: int) -> JsonObject:
    """An outline that was cut says so, in its last line; that leads to the top of the file."""
    name = f"… {left} more are not listed"
    return {key: value for key, value in first.items() if key not in ("detail", "children")} | {"name": name}


def _flat(places: PositionMapping, outline: tuple[Placed, ...], uri: str, shown: set[int] | None) -> list[JsonObject]:
    """The older shape, for clients that know no tree."""
    found: list[JsonObject] = []
    todo = [(placed, 0, "") for placed in reversed(outline)]
    while todo:
        placed, above, container = todo.pop()
        if shown is not None and id(placed) not in shown:
            continue
        line, symbol = placed.line + above, placed.symbol
        entry: JsonObject = {
            "name": symbol.name or "(no name)",
            "kind": KINDS[symbol.kind],
            "location": {"uri": uri, "range": places.range(symbol.span.shift(line))},
        }
        if container:
            entry["containerName"] = container
        found.append(entry)
        todo += [(child, line, symbol.name) for child in reversed(symbol.children)]
    return found
