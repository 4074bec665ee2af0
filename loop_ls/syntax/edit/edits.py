"""Edits that keep the style of what they change: indentation, quotes, block or flow, line ends, comments.

Each function gives the edits of one change, with places in the document. What they insert reads
back as the text that was asked for; nothing else changes its meaning.
"""

from __future__ import annotations

from typing import NamedTuple

from loop_ls.syntax.edit.layout import Layout
from loop_ls.syntax.edit.render import block_text, in_quotes, scalar_text
from loop_ls.syntax.incremental.piece import Piece
from loop_ls.syntax.nodes import Entry, Mapping, Node, Scalar, Sequence
from loop_ls.syntax.tree import Tree
from loop_ls.text.position import Position, Span


class Edit(NamedTuple):
    """Replace `span` of the document by `text`."""

    span: Span
    text: str


def set_scalar(tree: Tree, piece: Piece, scalar: Scalar, text: str, flow: bool = False) -> list[Edit]:
    """`scalar` with another text, in the quotes or block style it has, if they can hold the text."""
    style = scalar.style
    if style.block:
        layout = Layout(tree, piece)
        written = block_text(text, style, layout.margin(scalar), layout.header(scalar))
        written = written and written.replace("\n", tree.text.eol)
    elif style.quoted:
        written = in_quotes(text, style)
    else:
        written = scalar_text(text, flow)
    return [_edit(tree, piece, scalar.span, written or scalar_text(text, flow))]


def insert_entry(
    tree: Tree, piece: Piece, mapping: Mapping, key: str, value: str, after: Entry | None = None
) -> list[Edit]:
    """A new entry behind `after`, else at the end. `value` is YAML as it is to be written; further
    lines of it are indented as the new key is."""
    blank = " " if value and not value.startswith("\n") else ""
    written = f"{scalar_text(key, mapping.flow)}:{blank}{value}"
    own = [entry for entry in mapping.entries if not entry.merged] + list(mapping.merges)
    last = after or max(own, key=lambda entry: entry.key.span, default=None)
    layout = Layout(tree, piece)
    if mapping.flow:
        return [_into_flow(tree, piece, mapping, _end(layout, last) if last else None, written)]
    indent = " " * mapping.span.start.column
    end = layout.line_end(_end(layout, last) if last else mapping.span.end)
    text = tree.text.eol + indent + written.replace("\n", tree.text.eol + indent)
    return [_edit(tree, piece, Span(end, end), text)]


def append_item(tree: Tree, piece: Piece, sequence: Sequence, item: str) -> list[Edit]:
    """A new last item. `item` is YAML as it is to be written; further lines are indented behind the dash."""
    layout = Layout(tree, piece)
    if sequence.flow:
        filled = [node.span.end for node in sequence.items if node is not None]
        return [_into_flow(tree, piece, sequence, filled[-1] if filled else None, item)]
    indent = " " * sequence.span.start.column
    end = layout.line_end(sequence.span.end)
    text = f"{tree.text.eol}{indent}- " + item.replace("\n", f"{tree.text.eol}{indent}  ")
    return [_edit(tree, piece, Span(end, end), text)]


def add_to_list(
    tree: Tree, piece: Piece, mapping: Mapping, key: str, text: str, after: str | None = None
) -> list[Edit]:
    """`text` as another item of the list under `key`; the key is added (behind `after`) where it is missing.

    Nothing where the key has a value that is no list: what to do with it is for a person to say.
    """
    entry = mapping.get(key)
    if entry is None:
        before = mapping.get(after) if after else None
        return insert_entry(tree, piece, mapping, key, f"[{scalar_text(text, True)}]", before)
    if entry.merged:
        return []
    match entry.value:
        case Sequence() as sequence:
            return append_item(tree, piece, sequence, scalar_text(text, sequence.flow))
        case None:
            end = Layout(tree, piece).behind_colon(entry)
            return [_edit(tree, piece, Span(end, end), f" [{scalar_text(text, True)}]")]
        case _:
            return []


def remove_entry(tree: Tree, piece: Piece, mapping: Mapping, entry: Entry) -> list[Edit]:
    """Without `entry`: its lines in block style, the comma beside it in flow style."""
    layout = Layout(tree, piece)
    own = sorted((e for e in (*mapping.entries, *mapping.merges) if not e.merged), key=lambda e: e.key.span)
    at = own.index(entry)
    following = own[at + 1] if at + 1 < len(own) else None
    start, end = entry.key.span.start, _end(layout, entry)
    if mapping.flow:
        if following is not None:
            return [_edit(tree, piece, Span(start, following.key.span.start), "")]
        before = _end(layout, own[at - 1]) if at else Position(mapping.span.start.line, mapping.span.start.column + 1)
        return [_edit(tree, piece, Span(before, end), "")]
    if layout.starts_line(start):
        return [_edit(tree, piece, layout.lines(start.line, end.line), "")]
    if following is not None:  # the first key behind a dash: the next one takes its place
        return [_edit(tree, piece, Span(start, following.key.span.start), "")]
    return [_edit(tree, piece, Span(start, layout.line_end(end)), "{}")]


def _into_flow(tree: Tree, piece: Piece, node: Mapping | Sequence, last: Position | None, written: str) -> Edit:
    """Behind the last part of a flow collection, or right behind its bracket."""
    if last is not None:
        return _edit(tree, piece, Span(last, last), ", " + written)
    line, column = node.span.start
    return _edit(tree, piece, Span(Position(line, column + 1), Position(line, column + 1)), written)


def _end(layout: Layout, entry: Entry) -> Position:
    """Where an entry ends: its value, else its colon."""
    value: Node | None = entry.value
    return value.span.end if value is not None else layout.behind_colon(entry)


def _edit(tree: Tree, piece: Piece, span: Span, text: str) -> Edit:
    return Edit(span.shift(tree.start_of(piece)), text)
