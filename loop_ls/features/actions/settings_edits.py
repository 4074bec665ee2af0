"""One value of a settings file set or taken out, everything around it left as it is.

Pure: a text goes in and the next one comes out. Comments, order, blank lines and line ends stay.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from loop_ls.syntax.edit.edits import Edit, insert_entry, remove_entry
from loop_ls.syntax.edit.layout import Layout
from loop_ls.syntax.edit.render import scalar_text
from loop_ls.syntax.incremental.piece import Piece
from loop_ls.syntax.nodes import Entry, Mapping
from loop_ls.syntax.tree import Tree, read_yaml
from loop_ls.text.json_value import Json
from loop_ls.text.lines import Text
from loop_ls.text.position import Span


class NoPlace(Exception):
    """Something stands in the file where a mapping would be needed; the message is a sentence."""


def with_value(text: str, path: Sequence[str], value: Json) -> str:
    """The text with the value under these keys; mappings on the way are added. Raises `NoPlace`."""
    tree = read_yaml(Text.of(text))
    piece, entry = _top(tree, path[0])
    if piece is None or entry is None:
        return _applied(tree, [_at_end(tree, _nested(path, value))])
    return _applied(tree, _inside(tree, piece, entry, path, value))


def without_value(text: str, path: Sequence[str]) -> str:
    """The text without what stands under these keys, nor the mappings that are empty without it."""
    tree = read_yaml(Text.of(text))
    piece, entry = _top(tree, path[0])
    if piece is None or entry is None:
        return text
    chain: list[tuple[Mapping, Entry]] = [(Mapping(entry.key.span, (entry,)), entry)]
    for key in path[1:]:
        node = chain[-1][1].value
        found = node.get(key) if isinstance(node, Mapping) else None
        if not isinstance(node, Mapping) or found is None or found.merged:
            return text
        chain.append((node, found))
    while len(chain) > 1 and len(chain[-1][0].entries) == 1:
        chain.pop()
    mapping, gone = chain[-1]
    return _applied(tree, remove_entry(tree, piece, mapping, gone))


def _inside(tree: Tree, piece: Piece, entry: Entry, path: Sequence[str], value: Json) -> list[Edit]:
    for depth, key in enumerate(path[1:], 1):
        node = entry.value
        if node is None:
            return [_behind(tree, piece, entry, path[depth:], value)]
        if not isinstance(node, Mapping):
            raise NoPlace(f"`{'.'.join(path[:depth])}` is not a mapping")
        found = node.get(key)
        if found is None or found.merged:
            return _added(tree, piece, node, path[depth:], value)
        entry = found
    start = Layout(tree, piece).behind_colon(entry)
    end = start if entry.value is None else entry.value.span.end
    return [Edit(Span(start, end).shift(tree.start_of(piece)), f" {_flow(value)}")]


def _added(tree: Tree, piece: Piece, node: Mapping, path: Sequence[str], value: Json) -> list[Edit]:
    if node.flow or len(path) == 1:
        written = _flow(value)
        for key in reversed(path[1:]):
            written = "{" + f"{scalar_text(key, True)}: {written}" + "}"
        return insert_entry(tree, piece, node, path[0], written)
    return insert_entry(tree, piece, node, path[0], "\n" + _indented(_nested(path[1:], value), 2))


def _behind(tree: Tree, piece: Piece, entry: Entry, path: Sequence[str], value: Json) -> Edit:
    """Below a key that has no value yet."""
    at = Layout(tree, piece).behind_colon(entry)
    margin = entry.key.span.start.column + 2
    text = "\n" + _indented(_nested(path, value), margin)
    return Edit(Span(at, at).shift(tree.start_of(piece)), text.replace("\n", tree.text.eol))


def _top(tree: Tree, name: str) -> tuple[Piece | None, Entry | None]:
    for piece in tree.pieces:
        if piece.key is not None and piece.key.text == name:
            return piece, Entry(piece.key, piece.node)
    return None, None


def _nested(path: Sequence[str], value: Json) -> str:
    lines = [f"{' ' * 2 * depth}{scalar_text(key)}:" for depth, key in enumerate(path)]
    lines[-1] += f" {_flow(value)}"
    return "\n".join(lines)


def _indented(text: str, margin: int) -> str:
    return "\n".join(" " * margin + line for line in text.split("\n"))


def _at_end(tree: Tree, written: str) -> Edit:
    end, eol = tree.text.end, tree.text.eol
    start = "" if end.column == 0 else eol
    return Edit(Span(end, end), start + written.replace("\n", eol) + eol)


def _applied(tree: Tree, edits: list[Edit]) -> str:
    text = tree.text
    for edit in sorted(edits, key=lambda one: one.span, reverse=True):
        text = text.edit(edit.span, edit.text)
    return str(text)


def _flow(value: Json) -> str:
    match value:
        case str():
            return scalar_text(value, True)
        case list():
            return "[" + ", ".join(map(_flow, value)) + "]"
        case dict():
            return "{" + ", ".join(f"{scalar_text(key, True)}: {_flow(one)}" for key, one in value.items()) + "}"
        case _:
            return json.dumps(value)
