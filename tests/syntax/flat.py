"""Trees as plain values with absolute places, so that two readings can be compared."""

from __future__ import annotations

from typing import Any

from loop_ls.syntax.incremental.piece import Piece, Source, pieces
from loop_ls.syntax.nodes import Alias, Entry, Mapping, Node, Scalar, Sequence
from loop_ls.syntax.tree import Tree
from loop_ls.syntax.yaml.compose import compose
from loop_ls.syntax.yaml.refusal import Rejected
from loop_ls.text.fault import Fault
from loop_ls.text.lines import Text
from loop_ls.text.position import Span


def flat_node(node: Node | Entry | None, start: int = 0) -> Any:
    """A node as nested tuples. Targets of aliases by their place."""
    match node:
        case None:
            return None
        case Scalar():
            return ("scalar", _place(node.span, start), node.text, node.style.value, node.anchor, node.tag)
        case Alias():
            return ("alias", _place(node.span, start), node.name, node.target and _place(node.target.span, start))
        case Entry():
            return (flat_node(node.key, start), flat_node(node.value, start), node.merged)
        case Mapping():
            entries = tuple(flat_node(entry, start) for entry in node.entries)
            merges = tuple(flat_node(entry, start) for entry in node.merges)
            return ("mapping", _place(node.span, start), node.flow, node.anchor, node.tag, entries, merges)
        case Sequence():
            items = tuple(flat_node(item, start) for item in node.items)
            return ("sequence", _place(node.span, start), node.flow, node.anchor, node.tag, items)


def flat_piece(piece: Piece, start: int) -> Any:
    return (piece.section, piece.kind, flat_node(piece.key, start), flat_node(piece.node, start))


def flat_faults(faults: tuple[Fault, ...], start: int) -> tuple[Any, ...]:
    return tuple((_place(fault.span, start), fault.message, fault.code) for fault in faults)


def flat_content(tree: Tree) -> list[Any]:
    """The pieces that say something, without what only marks where a document begins or ends."""
    return [flat_piece(p, tree.start_of(p)) for p in tree.pieces if p.kind not in ("lead", "tail")]


def flat_tree(tree: Tree) -> Any:
    """Everything that a tree says."""
    found = [
        (flat_piece(p, tree.start_of(p)), flat_faults(p.faults, tree.start_of(p)), p.tolerant, p.lines)
        for p in tree.pieces
    ]
    return (tree.root_kind, flat_faults(tree.faults, 0), found)


def flat_whole(text: str) -> list[Any] | None:
    """What the first document of a text is when nothing is cut; None where libyaml refuses it."""
    lines = tuple(Text.of(text).lines)
    try:
        node = compose(lines).node
    except Rejected:
        return None
    return [flat_piece(p, 0) for p in pieces(node, Source(lines), "root") if p.kind != "lead"]


def _place(span: Span, start: int) -> tuple[int, int, int, int]:
    (a, b), (c, d) = span
    return a + start, b, c + start, d
