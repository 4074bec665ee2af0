"""Elements in the order in which a place wants them: what it waits for, then the nearest ones.

Nothing that waits for the place itself, so that using it closes no circle. Lazy: in a long file only
as many are looked at as are taken.
"""

from __future__ import annotations

from collections.abc import Iterator

from loop_ls.features.complete.prefix_filter import may_become
from loop_ls.formats.workflow.placeholder_syntax import RAG_PARTS
from loop_ls.index.document import Document
from loop_ls.index.element import Element

#: What may stand behind the name of a rag step.
_PARTS = ".".join(("", *sorted(RAG_PARTS)))


def nearest(
    document: Document, own: int | None, first: frozenset[int] = frozenset(), typed: str = ""
) -> Iterator[tuple[int, Element]]:
    """Every element that `own` may wait for and that the typed word may name, with its position; those in
    `first` lead. `own` None: a place behind all elements, in one that cannot be read."""
    elements, graph = document.elements, document.graph
    for position in sorted(first, reverse=True):
        yield position, elements[position]
    for position in _outwards(len(elements), own):
        if position in first or position == own:
            continue
        if typed and not _names(elements[position], typed):
            continue
        if own is None or not graph.depends(position, own):
            yield position, elements[position]


def _outwards(count: int, own: int | None) -> Iterator[int]:
    """Upwards from the place, then downwards."""
    here = count if own is None else own
    yield from range(here - 1, -1, -1)
    yield from range(here + 1, count)


def _names(element: Element, typed: str) -> bool:
    collected = element.accumulate
    return may_become(typed, element.name + _PARTS) or (collected is not None and may_become(typed, collected.text))
