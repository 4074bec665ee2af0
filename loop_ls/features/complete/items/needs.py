"""Steps and loops that `needs` may name: not the step itself, none that would close a circle.

Those whose result the step already uses come first, then the nearest ones above it.
"""

from __future__ import annotations

from collections.abc import Iterator

from loop_ls.features.answers import Item, ItemKind
from loop_ls.features.complete.items.proximity import nearest
from loop_ls.features.complete.prefix_filter import may_become
from loop_ls.features.complete.quoting import as_text
from loop_ls.features.complete.request import Request
from loop_ls.index.document import Document
from loop_ls.index.element import Element

#: More than anybody reads; typing narrows the list, and it is then asked for again.
LIMIT = 100


def needs(request: Request) -> Iterator[Item]:
    document, spot = request.document, request.spot
    own = _position(request)
    used = _used(document, own)
    listed = {*spot.items, request.name, ""}
    shown = 0
    for position, element in nearest(document, own, used, spot.text):
        if element.name in listed or not may_become(spot.text, element.name):
            continue
        listed.add(element.name)
        text = spot.lead + ("- " if spot.dash else "") + as_text(element.name, spot)
        detail = kind_of(element) + (", result is used here" if position in used else "")
        about = ("element", element.name)
        yield Item(element.name, ItemKind.ELEMENT, text, None, detail, f"{shown:04}", about=about)
        shown += 1
        if shown == LIMIT:
            return


def kind_of(element: Element) -> str:
    """`loop of polish`, `template step calling polish`, `run step`."""
    reference = element.reference
    if element.kind == "loop":
        return f"loop of {reference.text}" if reference is not None and reference.text else "loop"
    if reference is not None and reference.text:
        return f"{element.mode} step calling {reference.text}"
    return f"{element.mode} step" if element.mode else "step"


def _position(request: Request) -> int | None:
    """Where the step stands among the elements; by its name where it cannot be read."""
    if request.element is not None:
        return request.document.position(request.element)
    return request.document.graph.index(request.name) if request.name else None


def _used(document: Document, own: int | None) -> frozenset[int]:
    if own is None:
        return frozenset()
    graph = document.graph
    producers = (graph.producer(name) for name in document.elements[own].node.reads)
    return frozenset(one for one in producers if one is not None and one != own and not graph.depends(one, own))
