"""The spot inside a flow collection: descends to the innermost node around the cursor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from loop_ls.features.spot.block import Frame
from loop_ls.features.spot.flow import Flow
from loop_ls.features.spot.place import NOTHING, Lines, Path, Spot, Where, Written, empty, outer, written
from loop_ls.syntax.yaml.line_patterns import indent_of
from loop_ls.text.position import Position, Span


def flow_spot(source: Lines, frames: Sequence[Frame], flow: Flow, path: Path, at: Position) -> tuple[Spot, ...]:
    """Nothing where the cursor stands before or behind the collection."""
    around = [written(source, frames[-1], at.line)] if frames[-1].kind == "mapping" and frames[-1].path else []
    around += outer(source, frames, at.line)
    column = indent_of(source.lines[at.line])
    return _in_node(flow, path, at, tuple(around), column)


def _in_node(node: Flow, path: Path, at: Position, around: tuple[Written, ...], column: int) -> tuple[Spot, ...]:
    if at <= node.start or (node.closed and at >= node.end):
        return ()
    if node.kind == "mapping":
        return _in_mapping(node, path, at, around, column)
    return _in_sequence(node, path, at, around, column)


def _in_mapping(node: Flow, path: Path, at: Position, around: tuple[Written, ...], column: int) -> tuple[Spot, ...]:
    for (key, value), colon, stop in zip(node.entries, node.colons, node.stops, strict=False):
        if not key.start <= at <= stop:
            continue
        others = {name: text for name, text in node.written.items() if name != key.text}
        if at <= key.end:
            word, text, quote = _inner(key, at)
            spot = Spot(Where.KEY, path, word, text, column, others, around, flow=True, quote=quote)
            return (replace(spot, colon=colon is not None, fresh=colon is None),)
        if colon is None or at <= colon:
            return ()
        inside = (*path, key.text)
        if value is None or at < value.start:
            lead = " " if at.column == colon.column + 1 else ""
            return (Spot(Where.VALUE, inside, empty(at), "", column, others, around, flow=True, lead=lead),)
        if value.kind != "scalar":
            return _in_node(value, inside, at, (others, *around), column)
        if _is_behind(value, at):
            return ()
        word, text, quote = _inner(value, at)
        return (Spot(Where.VALUE, inside, word, text, column, others, around, flow=True, quote=quote),)
    return (Spot(Where.KEY, path, empty(at), "", column, node.written, around, flow=True),)


def _in_sequence(node: Flow, path: Path, at: Position, around: tuple[Written, ...], column: int) -> tuple[Spot, ...]:
    for item, stop in zip(node.items, node.stops, strict=False):
        if not item.start <= at <= stop:
            continue
        if item.kind != "scalar":
            return _in_node(item, (*path, "[]"), at, around, column)
        if _is_behind(item, at):
            return ()
        word, text, quote = _inner(item, at)
        others = tuple(other.text for other in node.items if other is not item and other.text)
        return (Spot(Where.ITEM, path, word, text, column, NOTHING, around, others, flow=True, quote=quote),)
    items = tuple(item.text for item in node.items if item.text)
    return (Spot(Where.ITEM, path, empty(at), "", column, outer=around, items=items, flow=True),)


def _is_behind(scalar: Flow, at: Position) -> bool:
    """Whether the cursor stands behind a word, or behind its closing quote."""
    return at > scalar.end or (bool(scalar.quote) and scalar.closed and at == scalar.end)


def _inner(scalar: Flow, at: Position) -> tuple[Span, str, str]:
    """What is replaced: the text without its quotes, as far as it stands on the line of the cursor."""
    start, end = scalar.start, scalar.end
    if scalar.quote and at > start:
        start = Position(start.line, start.column + 1)
        if scalar.closed:
            end = Position(end.line, end.column - 1)
    start = max(start, Position(at.line, 0))
    end = end if end.line == at.line else at
    return Span(start, max(start, end)), scalar.text, scalar.quote if at > scalar.start else ""
