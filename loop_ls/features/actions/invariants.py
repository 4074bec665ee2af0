"""What a change of places must leave as it is: the other elements, who waits for whom, what ends the workflow."""

from __future__ import annotations

from collections.abc import Iterator

from loop_ls.formats.common.plain_value import plain
from loop_ls.index.document import Document


def clean(document: Document) -> bool:
    """Whether every part of a document could be read as it stands."""
    return not document.tree.faults and not any(piece.faults or piece.tolerant for piece in document.tree.pieces)


def same_beside(before: Document, after: Document, name: str) -> bool:
    """Whether everything but the element `name` is, and waits for, the same."""
    last, new_last = before.last_step(), after.last_step()
    return (
        (last.name if last else None) == (new_last.name if new_last else None)
        and sorted(_others(before, name)) == sorted(_others(after, name))
        and _waiting(before) == _waiting(after)
    )


def _others(document: Document, name: str) -> Iterator[str]:
    for one in document.elements:
        if one.name != name:
            yield f"{one.kind} {one.name} {plain(one.block.node)!r}"


def _waiting(document: Document) -> dict[str, frozenset[str]]:
    """Who waits for whom, by name."""
    names = [one.name or "" for one in document.elements]
    return {
        name: frozenset(names[other] for other in document.graph.dependencies(number))
        for number, name in enumerate(names)
    }
