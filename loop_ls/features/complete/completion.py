"""Completion: what may be written at a place, best first.

`complete(workspace, document, at, settings)` answers for valid and half-typed text;
`describe(workspace, document, about)` tells the documentation of an item later (completion resolve).
The items themselves come from one module per kind of thing (`features.complete`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from loop_ls.features.answers import Completions, Item
from loop_ls.features.complete.describe import describe
from loop_ls.features.complete.island import Braces, braces_at
from loop_ls.features.complete.items.aliases import aliases
from loop_ls.features.complete.items.arguments import arguments
from loop_ls.features.complete.items.callees import callees
from loop_ls.features.complete.items.comparisons import comparisons
from loop_ls.features.complete.items.elements import whole, whole_file
from loop_ls.features.complete.items.keys import keys
from loop_ls.features.complete.items.models import models, providers, servers, skills
from loop_ls.features.complete.items.needs import needs
from loop_ls.features.complete.items.paths import names_a_file, paths
from loop_ls.features.complete.items.schema_line import schema_line
from loop_ls.features.complete.items.until import conditions
from loop_ls.features.complete.items.values import guesses, values
from loop_ls.features.complete.items.variables import as_values, in_braces
from loop_ls.features.complete.request import Listing, Request, requests
from loop_ls.features.complete.shapes import meaning_of
from loop_ls.features.language_support import support_of
from loop_ls.features.spot.place import Spot, Where
from loop_ls.formats.common.key_table import Key, Shape, Type
from loop_ls.formats.registry import LOOKALIKE
from loop_ls.text.position import Position, Span

if TYPE_CHECKING:
    from loop_ls.formats.settings.model import Settings
    from loop_ls.index.document import Document
    from loop_ls.index.workspace import Workspace

#: So many items are not all: the editor has to ask again while the word is being typed.
CUT = 100

#: Texts that people write themselves; a variable is offered where they open its braces.
_PROSE = frozenset(("run", "prompt", "until"))

__all__ = ["complete", "describe"]


def complete(
    workspace: Workspace,
    document: Document,
    at: Position,
    settings: Settings | None = None,
    listing: Listing | None = None,
) -> Completions:
    """Everything that may stand at `at`. An empty list is an answer. `listing` tells what lies in a folder."""
    return support_of(document).complete(workspace, document, at, settings or workspace.settings, listing)


def complete_workflow(
    workspace: Workspace, document: Document, at: Position, settings: Settings, listing: Listing | None = None
) -> Completions:
    """In a workflow, and in a file that may become one."""
    schema = schema_line(document, at) if document.format in (None, LOOKALIKE) else None
    if schema is not None and document.text.lines[at.line].strip():
        return schema
    known = document.format is not None or all(not line.strip() for line in document.text.lines[:50])
    asked = requests(workspace, document, at, settings, listing) if known else ()
    in_text = bool(asked) and asked[0].spot.where is Where.TEXT
    if document.format is not None and not in_text and (found := aliases(document, at)) is not None:
        return found
    if not asked:
        return schema or Completions(Span(at, at))
    compared = comparisons(asked[0]) if document.is_workflow else None
    if compared is not None:
        return compared
    braces = braces_at(asked[0].line, at.column)
    if braces is not None and document.is_workflow:
        inside = _in_braces(asked[0], braces)
        if inside is not None:
            return inside
    span = asked[0].spot.word
    items: list[Item] = []
    for number, request in enumerate(asked):
        own = request.spot.word
        for item in _items(request):
            items.append(
                replace(item, sort=f"{number}{item.sort}", span=None if own == span else own) if number else item
            )
    if schema is not None:  # beside the whole files that an empty one may become
        items += (replace(item, sort="z", span=schema.span) for item in schema.items)
    return Completions(span, tuple(items), incomplete=len(items) >= CUT)


def _in_braces(request: Request, braces: Braces) -> Completions | None:
    """Variables, where placeholders are filled in. A brace that only may become one needs a text around it."""
    key = request.meaning.key
    if key is None or not key.interpolated or (request.meaning.shape is not None and braces.before):
        return None
    of_text = key.type is Type.TEXT or request.meaning.inside
    if braces.before and request.spot.where is not Where.VALUE and not of_text:
        return None
    span, items = in_braces(request, braces)
    listed = tuple(items)
    return Completions(span, listed, incomplete=len(listed) >= CUT)


def _items(request: Request) -> Iterator[Item]:
    spot, meaning = request.spot, request.meaning
    if request.document.tree.root_kind in ("sequence", "scalar"):
        return  # no key can stand in such a file
    if not request.document.is_workflow:
        yield from _for_a_file_that_is_none_yet(request)
        return
    match spot.where:
        case Where.KEY:
            if meaning.shape is not None:
                yield from keys(meaning.shape, spot, request.style)
            elif meaning.key is not None and meaning.key.type is Type.ARGUMENTS and not meaning.inside:
                yield from arguments(request)
        case Where.VALUE:
            if meaning.key is not None and not meaning.inside:
                yield from _values(request, meaning.key)
            elif meaning.key is not None and meaning.key.type is Type.ARGUMENTS and not spot.text:
                yield from as_values(request, spot, spot.path[-1])
        case Where.ITEM:
            if meaning.key is not None and not meaning.inside:
                yield from _list_items(request, meaning.key)
        case Where.BELOW:
            if meaning.key is not None and not meaning.inside:
                yield from _below(request, meaning.key, meaning.shape)
        case Where.TEXT:
            return


def _for_a_file_that_is_none_yet(request: Request) -> Iterator[Item]:
    """An empty file may become a workflow; any other file is none of our business."""
    document, spot = request.document, request.spot
    if document.format is None:
        yield from whole_file(spot, request.style)


def _values(request: Request, key: Key) -> Iterator[Item]:
    spot = request.spot
    if names_a_file(key):
        yield from paths(request, key)
    match key.offers:
        case "providers":
            yield from providers(request)
        case "models":
            yield from models(request)
        case "workflows":
            yield from callees(request)
        case "elements" | "servers" | "skills" if key.type is Type.TEXTS and not spot.text:
            for item in _listed(request, key):
                yield replace(item, text=f"[{item.text}]")
        case "servers":
            yield from servers(request)
        case _ if key.name == "until":
            yield from conditions(request)
        case _ if key.interpolated and key.type is not Type.ARGUMENTS and key.name not in _PROSE and not spot.text:
            yield from as_values(request, spot)
        case _:
            pass
    owner = _owner(request)
    yield from values(key, spot, owner)
    yield from guesses(key, spot, owner, request.document.path)


def _owner(request: Request) -> str:
    shape = meaning_of(request.spot.path[:-1]).shape
    return shape.name if shape is not None else ""


def _below(request: Request, key: Key, shape: Shape | None) -> Iterator[Item]:
    match key.type:
        case Type.BLOCK if shape is not None:
            yield from keys(shape, request.spot, request.style)
        case Type.ARGUMENTS:
            yield from arguments(request)
        case Type.BLOCKS | Type.TEXTS | Type.TEXT_OR_TEXTS | Type.NUMBERS:
            yield from _list_items(replace(request, spot=_dashed(request.spot, request.style.dash)), key)
        case _:
            yield from _values(request, key)


def _dashed(spot: Spot, dash: int) -> Spot:
    """The first item of a list: its dash stands where the file puts dashes, unless the cursor says otherwise."""
    if spot.owner is None:
        return replace(spot, dash=True)
    column = spot.owner + dash
    return replace(spot, dash=True, column=column, lead=" " * (column - spot.word.start.column))


def _list_items(request: Request, key: Key) -> Iterator[Item]:
    spot = request.spot
    if key.type is Type.BLOCKS and key.shape is not None:
        yield from whole(key.shape, spot, request.style)
        if request.first and not spot.flow:
            yield from _first_keys(request, key.shape, spot)
        return
    yield from _listed(request, key)


def _listed(request: Request, key: Key) -> Iterator[Item]:
    """The texts that a list may hold."""
    match key.offers:
        case "elements":
            yield from needs(request)
        case "servers":
            yield from servers(request)
        case "skills":
            yield from skills(request)
        case _:
            return


def _first_keys(request: Request, shape: Shape, spot: Spot) -> Iterator[Item]:
    """The keys of a new item, dash included where it is not written."""
    gap = request.style.gap
    inner = replace(spot, column=spot.column + gap, lead=f"{spot.lead}-{' ' * (gap - 1)}") if spot.dash else spot
    for item in keys(shape, inner, request.style):
        yield replace(item, sort=f"k{item.sort}")
