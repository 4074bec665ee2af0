"""Whole elements at a spot: steps, loops, links of a chain, rendered for the place."""

from __future__ import annotations

from collections.abc import Iterator

from loop_ls.features.answers import Item, ItemKind
from loop_ls.features.complete.items.snippets import ENTRIES, FILES, Snippet
from loop_ls.features.complete.render import Pairs, flow_mapping, item, mapping, without_stops
from loop_ls.features.complete.style import Style
from loop_ls.features.spot.place import Spot
from loop_ls.formats.common.key_table import Shape


def whole(shape: Shape, spot: Spot, style: Style) -> Iterator[Item]:
    """The snippets for an item of a list of `shape`s at `spot`."""
    for place, snippet in enumerate(ENTRIES.get(shape.name, ())):
        yield _item(snippet, _item_text(snippet.pairs, spot, style), spot, place)


def whole_file(spot: Spot, style: Style) -> Iterator[Item]:
    """The snippets for a file with nothing in it."""
    for place, snippet in enumerate(FILES):
        yield _item(snippet, mapping(snippet.pairs, 0, style) + "\n", spot, place)


def _item_text(pairs: Pairs, spot: Spot, style: Style) -> str:
    if spot.flow:
        return flow_mapping(pairs)
    if spot.dash:
        return item(pairs, spot.column, style)
    return mapping(pairs, spot.column, style)


def _item(snippet: Snippet, text: str, spot: Spot, place: int) -> Item:
    return Item(
        snippet.label,
        ItemKind.SNIPPET,
        spot.lead + without_stops(text),
        spot.lead + text,
        snippet.detail,
        f"{place:02}",
        filter=f"{snippet.label} {snippet.words}".strip(),
        about=("snippet", without_stops(text)),
    )
