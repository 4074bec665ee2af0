"""Flow collections (`[a, {b: c}]`) as far as they are written: unclosed ones are the normal case.

Reads characters, not a tree, so that completion sees the same thing while a bracket is being typed.
`{{` is never two mappings here: braces around a variable belong to a text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from loop_ls.text.position import Position

_STOPS = frozenset(",[]{}")


@dataclass(slots=True)
class Flow:
    """One node. `end` lies behind it; `closed` tells whether its last bracket or quote is written."""

    kind: str  # "mapping" | "sequence" | "scalar"
    start: Position
    end: Position
    text: str = ""
    quote: str = ""
    closed: bool = True
    entries: list[tuple[Flow, Flow | None]] = field(default_factory=list)
    colons: list[Position | None] = field(default_factory=list)  # one per entry
    stops: list[Position] = field(default_factory=list)  # one per entry or item: where its comma or bracket stands
    items: list[Flow] = field(default_factory=list)

    @property
    def written(self) -> dict[str, str]:
        return {key.text: value.text if value else "" for key, value in self.entries}


class _Reader:
    """A place in the lines; `limit` is the line (exclusive) at which an unclosed collection ends."""

    def __init__(self, lines: Sequence[str], at: Position, limit: int) -> None:
        self.lines, self.limit = lines, limit
        self.line, self.column = at

    @property
    def at(self) -> Position:
        return Position(self.line, self.column)

    def peek(self) -> str:
        """The next character after blanks, line ends and comments; empty at the end."""
        while self.line < self.limit:
            text = self.lines[self.line]
            while self.column < len(text) and text[self.column] in " \t":
                self.column += 1
            comment = self.column < len(text) and text[self.column] == "#"
            if self.column < len(text) and not (comment and (self.column == 0 or text[self.column - 1] in " \t")):
                return text[self.column]
            if self.line + 1 >= self.limit:
                self.column = len(text)
                return ""
            self.line, self.column = self.line + 1, 0
        return ""


def read_flow(lines: Sequence[str], at: Position, limit: int) -> Flow:
    """The node that begins at `at`; it ends before line `limit` at the latest."""
    return _node(_Reader(lines, at, limit), 0)


def _node(reader: _Reader, depth: int) -> Flow:
    sign = reader.peek()
    braces = reader.lines[reader.line].startswith("{{", reader.column) if sign == "{" else False
    if sign in ("[", "{") and not braces and depth < 60:
        return _collection(reader, "]" if sign == "[" else "}", depth)
    return _quoted(reader, sign) if sign in ("'", '"') else _plain(reader)


def _collection(reader: _Reader, close: str, depth: int) -> Flow:
    node = Flow("sequence" if close == "]" else "mapping", reader.at, reader.at, closed=False)
    reader.column += 1
    while sign := reader.peek():
        if sign == close:
            reader.column += 1
            node.closed = True
            break
        if sign in ("]", "}"):  # a bracket of somebody else: this one was never closed
            break
        if sign == ",":
            reader.column += 1
            continue
        before = reader.at
        if node.kind == "mapping":
            _entry(reader, node, depth)
        else:
            node.items.append(_item(reader, depth))
        if reader.at == before:  # nothing was readable here
            reader.column += 1
        reader.peek()
        node.stops.append(reader.at)
    node.end = reader.at
    return node


def _entry(reader: _Reader, node: Flow, depth: int) -> None:
    key = _node(reader, depth + 1)
    colon: Position | None = None
    value: Flow | None = None
    if reader.peek() == ":":
        colon = reader.at
        reader.column += 1
        if reader.peek() not in ("", ",", "]", "}"):
            value = _node(reader, depth + 1)
    node.entries.append((key, value))
    node.colons.append(colon)


def _item(reader: _Reader, depth: int) -> Flow:
    """An item; `[a: b]` is a mapping of one entry."""
    first = _node(reader, depth + 1)
    if first.kind != "scalar" or reader.peek() != ":":
        return first
    node = Flow("mapping", first.start, first.end)
    colon = reader.at
    reader.column += 1
    value = _node(reader, depth + 1) if reader.peek() not in ("", ",", "]", "}") else None
    node.entries.append((first, value))
    node.colons.append(colon)
    node.end = reader.at
    reader.peek()
    node.stops.append(reader.at)
    return node


def _quoted(reader: _Reader, quote: str) -> Flow:
    start = reader.at
    reader.column += 1
    parts: list[str] = []
    while reader.line < reader.limit:
        text = reader.lines[reader.line]
        begin = reader.column
        while reader.column < len(text):
            sign = text[reader.column]
            if quote == '"' and sign == "\\":
                reader.column += 2
                continue
            if sign == quote:
                if quote == "'" and text.startswith("''", reader.column):
                    reader.column += 2
                    continue
                parts.append(text[begin : reader.column])
                reader.column += 1
                return Flow("scalar", start, reader.at, " ".join(parts), quote)
            reader.column += 1
        parts.append(text[begin:])
        if reader.line + 1 >= reader.limit:
            reader.column = len(text)
            break
        reader.line, reader.column = reader.line + 1, 0
    return Flow("scalar", start, reader.at, " ".join(parts), quote, closed=False)


def _plain(reader: _Reader) -> Flow:
    """Up to a separator on the same line; braces around a variable are part of it."""
    start = reader.at
    text = reader.lines[reader.line] if reader.line < len(reader.lines) else ""
    column = reader.column
    while column < len(text):
        if text.startswith("{{", column):
            close = text.find("}}", column)
            column = close + 2 if close >= 0 else len(text)
            continue
        sign = text[column]
        if sign in _STOPS or (sign == "#" and text[column - 1 : column] in (" ", "\t")):
            break
        if sign == ":" and (column + 1 >= len(text) or text[column + 1] in " \t,[]{}"):
            break
        column += 1
    word = text[start.column : column].rstrip()
    reader.column = start.column + len(word) if word else column
    return Flow("scalar", start, reader.at, word)
