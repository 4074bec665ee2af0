"""Completion: what may be written at a place, best first.

`complete(workspace, document, at, settings)` answers for valid and half-typed text;
`describe(workspace, document, about)` tells the documentation of an item later (completion resolve).
The items themselves come from one module per kind of thing (`features.complete`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from loop_ls.features.complete.describe import describe
from loop_ls.features.complete.keys import keys
from loop_ls.features.complete.needs import needs
from loop_ls.features.complete.request import Request, requests
from loop_ls.features.complete.shapes import meaning_of
from loop_ls.features.complete.values import guesses, values
from loop_ls.features.complete.whole import whole, whole_file
from loop_ls.features.spot.place import Spot, Where
from loop_ls.features.values import Completions, Item
from loop_ls.formats.keys import Key, Shape, Type
from loop_ls.text.position import Position, Span

if TYPE_CHECKING:
    from loop_ls.formats.settings import Settings
    from loop_ls.index.document import Document
    from loop_ls.index.workspace import Workspace

__all__ = ["complete", "describe"]


def complete(workspace: Workspace, document: Document, at: Position, settings: Settings | None = None) -> Completions:
    """Everything that may stand at `at`. An empty list is an answer."""
    asked = requests(workspace, document, at, settings)
    if not asked:
        return Completions(Span(at, at))
    span = asked[0].spot.word
    items: list[Item] = []
    for number, request in enumerate(asked):
        own = request.spot.word
        for item in _items(request):
            items.append(
                replace(item, sort=f"{number}{item.sort}", span=None if own == span else own) if number else item
            )
    return Completions(span, tuple(items))


def _items(request: Request) -> Iterator[Item]:
    spot, meaning = request.spot, request.meaning
    if request.document.format != "workflow":
        yield from _for_an_empty_file(request)
        return
    match spot.where:
        case Where.KEY:
            if meaning.shape is not None:
                yield from keys(meaning.shape, spot, request.style)
        case Where.VALUE:
            if meaning.key is not None and not meaning.inside:
                yield from _values(request, meaning.key, spot)
        case Where.ITEM:
            if meaning.key is not None and not meaning.inside:
                yield from _list_items(request, meaning.key, spot)
        case Where.BELOW:
            if meaning.key is not None and not meaning.inside:
                yield from _below(request, meaning.key, meaning.shape, spot)
        case Where.TEXT:
            return


def _for_an_empty_file(request: Request) -> Iterator[Item]:
    """A file that is nothing yet may become a workflow; any other file is none of our business."""
    if request.document.format is None and all(not line.strip() for line in request.document.text.lines[:50]):
        yield from whole_file(request.spot, request.style)


def _values(request: Request, key: Key, spot: Spot) -> Iterator[Item]:
    owner = _owner(request)
    yield from values(key, spot, owner)
    yield from guesses(key, spot, owner, request.document.path)


def _owner(request: Request) -> str:
    shape = meaning_of(request.spot.path[:-1]).shape
    return shape.name if shape is not None else ""


def _below(request: Request, key: Key, shape: Shape | None, spot: Spot) -> Iterator[Item]:
    match key.type:
        case Type.BLOCK if shape is not None:
            yield from keys(shape, spot, request.style)
        case Type.BLOCKS | Type.TEXTS | Type.TEXT_OR_TEXTS | Type.NUMBERS:
            yield from _list_items(request, key, _dashed(spot, request.style.dash))
        case _:
            yield from _values(request, key, spot)


def _dashed(spot: Spot, dash: int) -> Spot:
    """The first item of a list: its dash stands where the file puts dashes, unless the cursor says otherwise."""
    if spot.owner is None:
        return replace(spot, dash=True)
    column = spot.owner + dash
    return replace(spot, dash=True, column=column, lead=" " * (column - spot.word.start.column))


def _list_items(request: Request, key: Key, spot: Spot) -> Iterator[Item]:
    if key.type is Type.BLOCKS and key.shape is not None:
        yield from whole(key.shape, spot, request.style)
        if request.first and not spot.flow:
            yield from _first_keys(request, key.shape, spot)
        return
    match key.offers:
        case "elements":
            yield from needs(request)
        case _:
            return


def _first_keys(request: Request, shape: Shape, spot: Spot) -> Iterator[Item]:
    """The keys of a new item, dash included where it is not written."""
    gap = request.style.gap
    inner = replace(spot, column=spot.column + gap, lead=f"{spot.lead}-{' ' * (gap - 1)}") if spot.dash else spot
    for item in keys(shape, inner, request.style):
        yield replace(item, sort=f"k{item.sort}")
