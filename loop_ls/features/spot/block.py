"""Which block collections are open at a line, read from the lines above it by their indentation.

Only lines are read, never a tree: completion has to know where it is exactly while the text is not
well-formed. `open_frames` looks at the lines of one piece (an item of `steps`, a top-level entry).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from loop_ls.features.spot.flow import Flow, read_flow
from loop_ls.syntax.yaml.line_patterns import indent_of
from loop_ls.text.position import Position

KEY = re.compile(
    r"""(?P<key>"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s#,\[\]{}"'&*!|>%@`-][^#:]*?(?::[^\s#:][^#:]*?)*?|-[^\s:#][^:#]*?)"""
    r"[ \t]*:(?=[ \t]|$)"
)
_PROPERTIES = re.compile(r"[ \t]*(?:[&!][^\s,\[\]{}]*[ \t]+)*")
_BLOCK_TEXT = re.compile(r"[|>][+-]?[1-9]?[+-]?[ \t]*(?:#.*)?$")


@dataclass(slots=True)
class Frame:
    """An open block collection. `column` is that of its keys or dashes; `path` leads to it.

    `key` and `key_line` belong to the last entry of a mapping, `hangs` tells that this entry has no
    value yet (or, in a sequence, that the last dash has nothing behind it).
    """

    kind: str  # "mapping" | "sequence"
    column: int
    path: tuple[str, ...]
    line: int
    key: str = ""
    key_line: int = -1
    hangs: bool = False
    written: dict[str, str] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)  # of the keys in `written`
    items: list[str] = field(default_factory=list)

    def copy(self) -> Frame:
        return replace(self, written=dict(self.written), lines=dict(self.lines), items=list(self.items))


@dataclass(slots=True)
class Prose:
    """A text of several lines that is still open: block text, or a quoted or plain scalar that goes on."""

    column: int  # of the key or dash that owns it: a line that is not deeper ends it
    style: str  # "|" | ">" | "'" | '"' | ""
    path: tuple[str, ...]
    key: str


@dataclass(slots=True)
class Open:
    """What is open behind the last line that was read."""

    frames: list[Frame]
    prose: Prose | None = None
    flow: Flow | None = None  # an unclosed flow collection
    flow_path: tuple[str, ...] = ()
    flow_column: int = 0  # of its owner


def blank(line: str) -> bool:
    """Nothing, or only a comment."""
    text = line.lstrip(" \t")
    return not text or text[0] == "#"


def unquoted(text: str) -> str:
    return text[1:-1] if len(text) > 1 and text[0] in "'\"" else text


def dash_at(line: str, column: int) -> bool:
    """Whether the dash of a sequence item stands there."""
    return line[column : column + 1] == "-" and line[column + 1 : column + 2] in ("", " ", "\t")


def after_properties(line: str, column: int) -> int:
    """Where the value itself begins: behind blanks, anchor and tag."""
    match = _PROPERTIES.match(line, column)
    assert match is not None
    return match.end()


def plain_value(raw: str) -> str:
    """The text of a one-line value as far as completion needs it: without comment, quotes, properties."""
    text = raw[after_properties(raw, 0) :].strip()
    if text[:1] in ("'", '"'):
        end = text.find(text[0], 1)
        return text[1:end] if end > 0 else text[1:]
    cut = text.find(" #")
    return (text[:cut] if cut >= 0 else text).rstrip()


def open_frames(lines: Sequence[str], first: int, until: int, frames: list[Frame]) -> Open:
    """Read the lines from `first` up to `until` (exclusive), with `frames` open before them."""
    state = Open(frames)
    line = first
    while line < until:
        line = _read_line(lines, line, until, state)
    return state


def _read_line(lines: Sequence[str], number: int, until: int, state: Open) -> int:
    """Take one line in; answer the number of the next one to read."""
    line = lines[number]
    if not line.strip():
        return number + 1
    column = indent_of(line)
    if state.prose is not None:
        if column > state.prose.column:
            return number + 1 if state.prose.style not in ("'", '"') else _go_on_quoted(line, number, state)
        state.prose = None
    if blank(line):
        return number + 1
    state.flow = None
    frames = state.frames
    while dash_at(line, column):
        open_dash(frames, column, number)
        rest = line[column + 1 :]
        if blank(rest):
            return number + 1
        frames[-1].hangs = False
        column += 1 + len(rest) - len(rest.lstrip(" \t"))
    key = KEY.match(line, column)
    if key:
        return _key(lines, number, until, state, column, key)
    return _scalar_line(lines, number, until, state, column)


def _go_on_quoted(line: str, number: int, state: Open) -> int:
    assert state.prose is not None
    if closing_quote(line, state.prose.style, 0) >= 0:
        state.prose = None
    return number + 1


def closing_quote(line: str, quote: str, start: int) -> int:
    """The column of the quote that ends a text which goes on at `start`; -1 where it is not on this line."""
    column = start
    while column < len(line):
        sign = line[column]
        escaped = sign == "\\" if quote == '"' else line.startswith("''", column)
        if escaped:
            column += 2
        elif sign == quote:
            return column
        else:
            column += 1
    return -1


def quote_end(text: str) -> int:
    """Where the quoted text that begins `text` ends on this line."""
    close = closing_quote(text, text[0], 1)
    return close + 1 if close >= 0 else len(text)


def _pop(frames: list[Frame], column: int, dash: bool) -> None:
    """Close what a line at `column` does not belong to. The outermost frame stays."""
    while len(frames) > 1:
        top = frames[-1]
        if top.column < column or (top.column == column and (dash or top.kind == "mapping")):
            return
        frames.pop()


def child_path(frame: Frame) -> tuple[str, ...]:
    """The path of what its last entry holds."""
    return (*frame.path, frame.key if frame.kind == "mapping" else "[]")


def open_dash(frames: list[Frame], column: int, number: int) -> None:
    """An item begins at `column`."""
    _pop(frames, column, dash=True)
    top = frames[-1]
    if top.kind == "sequence" and top.column == column:
        top.items.append("")
        top.hangs, top.key_line = True, number
        return
    frames.append(Frame("sequence", column, child_path(frames[-1]), number, key_line=number, hangs=True, items=[""]))
    top.hangs = False


def open_mapping(frames: list[Frame], column: int, number: int) -> Frame:
    """The mapping whose keys stand at `column`, opened if need be."""
    _pop(frames, column, dash=False)
    top = frames[-1]
    if top.kind == "mapping" and top.column == column:
        return top
    if top.kind == "mapping" and top.column < column and top.key_line >= 0 and not top.hangs:
        return top  # deeper than its siblings, with nothing to hang on to: read on as one of them
    path = child_path(frames[-1])
    top.hangs = False
    frames.append(Frame("mapping", column, path, number))
    return frames[-1]


def _key(lines: Sequence[str], number: int, until: int, state: Open, column: int, key: re.Match[str]) -> int:
    frame = open_mapping(state.frames, column, number)
    name = unquoted(key["key"])
    line = lines[number]
    start = after_properties(line, key.end())
    value = line[start:]
    frame.key, frame.key_line = name, number
    frame.written.setdefault(name, plain_value(value))
    frame.lines.setdefault(name, number)
    if blank(value):
        frame.hangs = True
        return number + 1
    frame.hangs = False
    return _value(lines, Position(number, start), until, state, (frame.column, (*frame.path, name), name))


def _scalar_line(lines: Sequence[str], number: int, until: int, state: Open, column: int) -> int:
    """A line without a key: an item, the value of a key above, or a key that is half typed."""
    frames = state.frames
    top = frames[-1]
    text = lines[number][column:]
    if top.kind == "sequence" and top.key_line == number:
        top.items[-1] = plain_value(text)
        return _value(lines, Position(number, column), until, state, (top.column, (*top.path, "[]"), ""))
    if top.kind == "mapping" and top.hangs and column > top.column:
        top.hangs = False
        top.written[top.key] = plain_value(text)
        return _value(lines, Position(number, column), until, state, (top.column, (*top.path, top.key), top.key))
    return number + 1


def _value(lines: Sequence[str], at: Position, until: int, state: Open, owner: tuple[int, tuple[str, ...], str]) -> int:
    """What begins at `at`; remembers it where it is still open behind its line."""
    column, path, key = owner
    text = lines[at.line][at.column :]
    goes_on = text[0] in "'\"" and closing_quote(text, text[0], 1) < 0
    if goes_on or _BLOCK_TEXT.match(text):
        state.prose = Prose(column, text[0], path, key)
    elif text[0] in "[{" and not text.startswith("{{"):
        flow = read_flow(lines, at, flow_limit(lines, at.line, until, column))
        if not flow.closed:
            state.flow, state.flow_path, state.flow_column = flow, path, column
        return max(at.line + 1, flow.end.line + (1 if flow.closed or flow.end.line > at.line else 0))
    elif text[0] not in "'\"*":
        state.prose = Prose(column, "", path, key)
    return at.line + 1


def flow_limit(lines: Sequence[str], first: int, until: int, column: int) -> int:
    """Where a flow collection of an owner at `column` ends at the latest: its lines are deeper than the owner."""
    line = first + 1
    while line < until:
        text = lines[line]
        if text.strip() and indent_of(text) <= column and text.lstrip(" ")[:1] not in ("]", "}"):
            break
        line += 1
    return line
