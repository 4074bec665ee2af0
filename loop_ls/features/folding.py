"""Folding: sections, steps, loops, mappings, lists, block texts and comments.

Folds of a piece are kept as long as the piece is the same; a long file pays for what changed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from loop_ls.features.answers import Fold
from loop_ls.features.lookup.pieces import with_starts
from loop_ls.index.document import Document
from loop_ls.syntax.nodes import Alias, Mapping, Node, Scalar, Sequence

if TYPE_CHECKING:
    from loop_ls.syntax.tree import Piece

_DEPTH = 40
#: Documents whose folds are remembered, by piece.
_DOCUMENTS = 4
_known: dict[str, dict[Piece, tuple[Fold, ...]]] = {}


def folds(document: Document) -> tuple[Fold, ...]:
    """From the top; of folds that begin on one line the longest comes first."""
    if document.format is None:
        return ()
    found: dict[int, Fold] = {}
    section: int | None = None
    last = 0
    known = _known.pop(document.uri, {})
    fresh: dict[Piece, tuple[Fold, ...]] = {}
    for start, piece, _ in with_starts(document):
        if piece.kind != "item" and section is not None:
            _add(found, Fold(section, last))
            section = None
        if piece.kind == "head":
            section = start + (piece.key.span.start.line if piece.key is not None else 0)
        own = fresh[piece] = known.get(piece) or _piece_folds(piece)
        for fold in own:
            _add(found, Fold(fold.start + start, fold.end + start, fold.comment))
        last = start + _last_line(piece.lines)
    if section is not None:
        _add(found, Fold(section, last))
    _known[document.uri] = fresh
    while len(_known) > _DOCUMENTS:
        _known.pop(next(iter(_known)))
    return tuple(found[line] for line in sorted(found))


def _add(found: dict[int, Fold], fold: Fold) -> None:
    if fold.end > fold.start and (fold.start not in found or found[fold.start].end < fold.end):
        found[fold.start] = fold


def _piece_folds(piece: Piece) -> tuple[Fold, ...]:
    """Relative to the first line of the piece; of those that begin on one line the longest."""
    first = piece.key.span.start.line if piece.key is not None else None
    found: dict[int, Fold] = {}
    for fold in (*_nodes(piece.node, first, 0), *_comments(piece.lines)):
        _add(found, fold)
    return tuple(found.values())


def _nodes(node: Node | None, owner: int | None, depth: int) -> Iterator[Fold]:
    """`owner` is the line of the key or dash, which stays visible."""
    if node is None or isinstance(node, Alias) or depth > _DEPTH:
        return
    start, end = node.span.start.line if owner is None else owner, node.span.end.line
    if node.span.end.column == 0:
        end -= 1
    yield Fold(start, end)
    match node:
        case Mapping():
            for entry in node.entries:
                if not entry.merged:
                    yield from _nodes(entry.value, entry.key.span.start.line, depth + 1)
        case Sequence():
            for item in node.items:
                yield from _nodes(item, None, depth + 1)
        case Scalar():
            return


def _comments(lines: tuple[str, ...]) -> Iterator[Fold]:
    """Two or more lines of comment below one another."""
    begin: int | None = None
    for number, line in enumerate((*lines, "")):
        if line.lstrip(" \t").startswith("#"):
            begin = number if begin is None else begin
        else:
            if begin is not None and number - begin > 1:
                yield Fold(begin, number - 1, comment=True)
            begin = None


def _last_line(lines: tuple[str, ...]) -> int:
    """The last line with something on it. Comments at the margin belong to the key that follows them."""
    last = len(lines) - 1
    while last > 0 and (not lines[last].strip() or lines[last].startswith("#")):
        last -= 1
    return last
