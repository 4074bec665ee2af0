"""The line of the cursor, read against the collections that are open above it."""

from __future__ import annotations

import re
from dataclasses import replace

from loop_ls.features.spot.block import (
    KEY,
    Frame,
    Open,
    after_properties,
    blank,
    dash_at,
    flow_limit,
    open_dash,
    open_frames,
    open_mapping,
    quote_end,
    unquoted,
)
from loop_ls.features.spot.candidates import candidates
from loop_ls.features.spot.flow import Flow, read_flow
from loop_ls.features.spot.inflow import flow_spot
from loop_ls.features.spot.place import NOTHING, Lines, Path, Spot, Where, empty, other_items, outer, written
from loop_ls.syntax.yaml.line_patterns import indent_of
from loop_ls.text.position import Position, Span

#: A colon whose key was taken away, to be written anew: what stands behind it stays.
_NO_KEY = re.compile(r"(?P<key>)[ \t]*:(?=[ \t]|$)")


def spots_at(source: Lines, at: Position, unit: int = 2) -> tuple[Spot, ...]:
    """What may be written at `at`, likeliest first. Empty where nothing of ours belongs (a comment).

    `unit` is the indentation that the file uses for a new level."""
    state = open_frames(source.lines, source.first, at.line, [frame.copy() for frame in source.frames])
    line = source.lines[at.line]
    if _in_prose(state, line, at):
        return (_prose_spot(source, state, at),)
    if state.flow is not None and (not line.strip() or indent_of(line) > state.flow_column):
        flow = _read(source, state.flow.start, state.flow_column, at)
        return flow_spot(source, state.frames, flow, state.flow_path, at)
    column = indent_of(line)
    if _in_comment(line, at.column) or (at.column < column and line.strip()):
        return ()
    return _behind_dashes(source, state.frames, at, column, unit)


def _read(source: Lines, start: Position, column: int, at: Position) -> Flow:
    limit = flow_limit(source.lines, start.line, source.end, column)
    return read_flow(source.lines, start, max(limit, at.line + 1))


def _in_prose(state: Open, line: str, at: Position) -> bool:
    if state.prose is None:
        return False
    if line.strip():
        return indent_of(line) > state.prose.column
    return state.prose.style != "" and at.column > state.prose.column


def _prose_spot(source: Lines, state: Open, at: Position) -> Spot:
    assert state.prose is not None
    return Spot(
        Where.TEXT,
        state.prose.path,
        empty(at),
        "",
        state.prose.column,
        written(source, state.frames[-1], at.line),
        outer(source, state.frames, at.line),
        quote=state.prose.style,
    )


def _in_comment(line: str, column: int) -> bool:
    """Whether `column` lies behind a `#` that no quote protects."""
    quote = ""
    for index in range(min(column, len(line))):
        sign = line[index]
        if quote:
            quote = "" if sign == quote else quote
        elif sign in "'\"" and (index == 0 or line[index - 1] in " \t[{,:"):
            quote = sign
        elif sign == "#" and (index == 0 or line[index - 1] in " \t"):
            return True
    return False


def _behind_dashes(source: Lines, frames: list[Frame], at: Position, column: int, unit: int) -> tuple[Spot, ...]:
    line = source.lines[at.line]
    dashed = False
    while dash_at(line, column) and at.column > column:
        open_dash(frames, column, at.line)
        dashed = True
        rest = line[column + 1 :]
        if blank(rest):
            return _fresh_item(source, frames, at, column)
        inner = column + 1 + len(rest) - len(rest.lstrip(" \t"))
        if at.column < inner:
            return ()
        column = inner
    if not line[column:].strip():
        return candidates(source, frames, at, at, unit)
    key = KEY.match(line, column) or _NO_KEY.match(line, column)
    if key:
        return _entry(source, frames, at, column, key)
    return _item(source, frames, at, column) if dashed else _bare(source, frames, at, column, unit)


def _fresh_item(source: Lines, frames: list[Frame], at: Position, dash: int) -> tuple[Spot, ...]:
    """Behind a dash with nothing after it. Keys on the lines below make it a mapping already."""
    top = frames[-1]
    below = next((n for n in range(at.line + 1, source.end) if not blank(source.lines[n])), None)
    column = indent_of(source.lines[below]) if below is not None else 0
    if below is not None and column > dash and KEY.match(source.lines[below], column):
        frame = open_mapping(frames, column, at.line)
        word = Span(Position(at.line, dash + 1), at)
        entries = written(source, frame, at.line)
        around = outer(source, frames, at.line)
        return (Spot(Where.KEY, frame.path, word, "", column, entries, around, lead=" " * (column - dash - 1)),)
    lead = " " if at.column == dash + 1 else ""
    items = other_items(source, top, at.line)
    around = outer(source, [*frames, top], at.line)
    return (Spot(Where.ITEM, top.path, empty(at), "", at.column + len(lead), NOTHING, around, items, lead=lead),)


def _item(source: Lines, frames: list[Frame], at: Position, column: int) -> tuple[Spot, ...]:
    """A scalar or flow collection behind a dash."""
    line = source.lines[at.line]
    top = frames[-1]
    if _flow_starts(line, column):
        flow = _read(source, Position(at.line, column), top.column, at)
        return flow_spot(source, frames, flow, (*top.path, "[]"), at)
    spot = _scalar(source, frames, at, Where.ITEM, top.path, column)
    return (
        replace(
            spot,
            column=column,
            written=NOTHING,
            outer=outer(source, [*frames, top], at.line),
            items=other_items(source, top, at.line),
        ),
    )


def _bare(source: Lines, frames: list[Frame], at: Position, column: int, unit: int) -> tuple[Spot, ...]:
    """A line without key or dash: half a key, or the value of the key above."""
    line = source.lines[at.line]
    top = frames[-1]
    if top.hangs and column > top.column and _flow_starts(line, column):
        flow = _read(source, Position(at.line, column), top.column, at)
        return flow_spot(source, frames, flow, (*top.path, top.key), at)
    if top.hangs and column > top.column and line[column] in "'\"":
        return (_scalar(source, frames, at, Where.VALUE, (*top.path, top.key), column),)
    return candidates(source, frames, Position(at.line, column), at, unit)


def _entry(source: Lines, frames: list[Frame], at: Position, column: int, key: re.Match[str]) -> tuple[Spot, ...]:
    line = source.lines[at.line]
    frame = open_mapping(frames, column, at.line)
    end = key.end("key")
    if at.column <= end:
        word = Span(Position(at.line, column), Position(at.line, end))
        entries = written(source, frame, at.line)
        around = outer(source, frames, at.line)
        return (Spot(Where.KEY, frame.path, word, line[column:end], column, entries, around, colon=True, fresh=False),)
    if at.column < key.end():
        return ()
    name = unquoted(key["key"])
    frame.key, frame.key_line = name, at.line
    start = after_properties(line, key.end())
    path: Path = (*frame.path, name)
    if _flow_starts(line, start) and at.column > start:
        return flow_spot(source, frames, _read(source, Position(at.line, start), frame.column, at), path, at)
    if start >= len(line) or line[start] == "#" or at.column < start:
        entries = written(source, frame, at.line)
        around = outer(source, frames, at.line)
        lead = " " if at.column == key.end() else ""
        nothing = blank(line[start:])
        return (Spot(Where.VALUE, path, empty(at), "", frame.column, entries, around, lead=lead, fresh=nothing),)
    return (_scalar(source, frames, at, Where.VALUE, path, start),)


def _flow_starts(line: str, column: int) -> bool:
    return line[column : column + 1] in ("[", "{") and not line.startswith("{{", column)


def _scalar(source: Lines, frames: list[Frame], at: Position, where: Where, path: Path, start: int) -> Spot:
    """A scalar that begins at `start`; its quotes stay outside of what is replaced."""
    line = source.lines[at.line]
    text = line[start:]
    quote = text[0] if text[0] in "'\"" and at.column > start else ""
    if text[0] in "'\"":
        end = start + quote_end(text)
    else:
        cut = text.find(" #")
        end = start + len((text[:cut] if cut >= 0 else text).rstrip())
    fresh = not line[end:].strip()
    if quote:
        closed = end - start > 1 and line[end - 1] == quote
        start, end = start + 1, end - 1 if closed else end
        if at.column > end:  # behind the closing quote
            where = Where.TEXT
    end = max(end, at.column)  # blanks behind a word go with it
    word = Span(Position(at.line, start), Position(at.line, max(start, end)))
    return Spot(
        where,
        path,
        word,
        line[start:end].rstrip(),
        frames[-1].column,
        written(source, frames[-1], at.line),
        outer(source, frames, at.line),
        quote=quote,
        fresh=fresh,
    )
