"""What the index reads from one piece, once: a top-level key, or the elements that stand in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from loop_ls.formats.common.object_parts import NOTHING as NO_PARTS
from loop_ls.formats.common.object_parts import PieceParts, parts_of_piece
from loop_ls.formats.common.typed_mapping import Fault
from loop_ls.index.element import Element
from loop_ls.index.reading import read_element
from loop_ls.index.top_level import Top, inline_items, read_top
from loop_ls.syntax.nodes import Mapping, Node, resolved

if TYPE_CHECKING:
    from loop_ls.formats.common.key_table import Shape
    from loop_ls.syntax.tree import Piece

_KINDS: dict[str | None, Literal["step", "loop"]] = {"steps": "step", "loops": "loop"}


class Facts(NamedTuple):
    """`faults` are items that are no mapping; `blank` counts items with nothing behind the dash. `parts` is
    what a piece of a file holds that is no workflow."""

    elements: tuple[Element, ...] = ()
    top: Top | None = None
    faults: tuple[Fault, ...] = ()
    blank: int = 0
    parts: PieceParts = NO_PARTS


NOTHING = Facts()


def read_piece(piece: Piece, shape: Shape | None = None) -> Facts:
    """Everything that can be said about a piece without looking at another one. `shape` is that of a file
    that is no workflow."""
    if shape is not None:
        return Facts(parts=parts_of_piece(piece, shape))
    kind = _KINDS.get(piece.section)
    if piece.kind == "item":
        return NOTHING if kind is None else _items(kind, piece, (piece.node,), None)
    top = read_top(piece)
    if top is None:
        return NOTHING
    if kind is None or piece.kind != "head":
        return Facts(top=top)
    return _items(kind, piece, inline_items(piece.node), top)


def _items(kind: Literal["step", "loop"], piece: Piece, items: Sequence[Node | None], top: Top | None) -> Facts:
    elements: list[Element] = []
    faults: list[Fault] = []
    blank = 0
    for item in items:
        found = resolved(item)
        if isinstance(found, Mapping):
            elements.append(read_element(kind, piece, found, piece.lines))
        elif item is None:
            blank += 1
        else:
            faults.append(Fault("type", item, "a mapping"))
    return Facts(tuple(elements), top, tuple(faults), blank)
