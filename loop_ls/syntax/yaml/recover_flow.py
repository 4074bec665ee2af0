"""`[...]` and `{...}` in text that libyaml refuses: reads as far as it makes sense, notes what is missing."""

from __future__ import annotations

import re
from collections.abc import Sequence as Lines

from loop_ls.syntax.nodes import Entry, Mapping, Node, Scalar, Sequence, Style
from loop_ls.syntax.yaml import messages
from loop_ls.syntax.yaml.anchors import MAX_DEPTH, Anchors
from loop_ls.syntax.yaml.escapes import unquoted
from loop_ls.syntax.yaml.line_patterns import DOUBLE, SINGLE, indent_of, is_blank
from loop_ls.text.fault import Fault
from loop_ls.text.pattern import pattern
from loop_ls.text.position import Position, Span

_BLANKS = pattern(r"[ \t]*(?:(?:^|(?<=[ \t]))#.*)?")
_PLAIN = pattern(r"(?:[^\s,\[\]{}:#]|:(?![\s,\[\]{}]|$)|(?<=\S)#|[ \t]+(?=[^\s,\[\]{}:#]))+")
_PROPERTY = pattern(r"[&!][^\s,\[\]{}]*")
_CLOSES = {"[": "]", "{": "}"}


class _Open:
    """A bracket that is not closed yet."""

    __slots__ = ("comma", "key", "parts", "sign", "start")

    def __init__(self, sign: str, start: Position) -> None:
        self.sign, self.start = sign, start
        self.parts: list[Entry | Node | None] = []
        self.key: Scalar | None = None
        self.comma = True  # an entry may begin here


class Flow:
    """One reading. `end` is behind the last sign, `closed` whether the outermost bracket is, `cut` whether
    reading ended because it lies too deep."""

    def __init__(self, lines: Lines[str], start: Position, limit: int, anchors: Anchors, depth: int) -> None:
        self.lines, self.limit, self.anchors, self.depth = lines, limit, anchors, depth
        line, column = self.line, self.column = start
        self.faults: list[Fault] = []
        self.end = Position(line, column)
        self.closed = self.cut = False
        self._open: list[_Open] = []
        self.node: Node | None = None
        self._read()

    def _read(self) -> None:
        while self._blank():
            text = self.lines[self.line]
            sign = text[self.column]
            if sign in "[{":
                self._opens(sign)
            elif sign in "]}":
                self._closes(sign)
                if not self._open:
                    self.closed = True
                    return
            elif sign == ",":
                if self._stands_behind(",[{"):
                    self.faults.append(messages.stray_comma(self.line, self.column))
                self._settle()
                self._open[-1].comma = True
                self._step(1)
            elif sign == ":":
                self._colon()
            else:
                self._scalar(text, sign)
        before = len(self.faults)
        while self._open:
            self._close(self.end, missing=True)
        if self.cut:  # nobody knows what would close them
            del self.faults[before:]

    def _blank(self) -> bool:
        """Moves to the next sign; False where the flow cannot go on."""
        while True:
            text = self.lines[self.line]
            found = _BLANKS.match(text, self.column)
            self.column = found.end() if found else self.column
            if self.column < len(text):
                return True
            following = self.line + 1
            while following < len(self.lines) and is_blank(self.lines[following]):
                following += 1
            if following >= len(self.lines):
                return False
            line = self.lines[following]
            if indent_of(line) <= self.limit and line.lstrip(" \t")[0] not in "]},":
                return False
            self.line, self.column = following, 0

    def _stands_behind(self, signs: str) -> bool:
        """Whether the last sign that was read is one of these."""
        line, column = self.end
        return self.lines[line][column - 1 : column] in signs

    def _step(self, width: int) -> None:
        self.column += width
        self.end = Position(self.line, self.column)

    def _opens(self, sign: str) -> None:
        start = Position(self.line, self.column)
        if self.depth + len(self._open) >= MAX_DEPTH:
            self.faults.append(messages.too_deep(self.line, self.column, MAX_DEPTH))
            self.cut = True
            self.line, self.column = len(self.lines) - 1, len(self.lines[-1])
            return
        if self._open:
            self._entry(start)
        self._open.append(_Open(sign, start))
        self._step(1)

    def _closes(self, sign: str) -> None:
        opened = self._open[-1]
        if sign != _CLOSES[opened.sign]:
            self.faults.append(messages.wrong_bracket(self.line, self.column, sign, opened.sign))
        self._step(1)
        self._close(self.end)

    def _close(self, end: Position, missing: bool = False) -> None:
        self._settle()
        opened = self._open.pop()
        if missing:
            line, column = opened.start
            self.faults.append(messages.open_bracket(line, column, column + 1, opened.sign))
        span = Span(opened.start, end)
        node: Node
        if opened.sign == "{":
            node = Mapping(span, tuple(part for part in opened.parts if isinstance(part, Entry)), True)
        else:
            items = (part if not isinstance(part, Entry) else _pair(part) for part in opened.parts)
            node = Sequence(span, tuple(items), True)
        self._put(node)

    def _settle(self) -> None:
        """A key without a value."""
        opened = self._open[-1]
        if opened.key is not None:
            opened.parts.append(Entry(opened.key, None))
            opened.key = None

    def _entry(self, at: Position) -> None:
        opened = self._open[-1]
        if not opened.comma and opened.key is None:
            self.faults.append(messages.missing_comma(*at))
        opened.comma = False

    def _put(self, node: Node) -> None:
        if not self._open:
            self.node = node
            return
        opened = self._open[-1]
        if opened.key is not None:
            opened.parts.append(Entry(opened.key, node))
            opened.key = None
        elif opened.sign == "{":
            opened.parts.append(Entry(self._as_key(node), None))
        else:
            opened.parts.append(node)

    def _colon(self) -> None:
        """What was read last is a key."""
        opened = self._open[-1]
        at = Position(self.line, self.column)
        last = opened.parts.pop() if opened.parts and not opened.comma else None
        self._settle()
        match last:
            case Entry():
                opened.key = last.key
            case None:
                opened.key = Scalar(Span(at, at), "")
            case _:
                opened.key = self._as_key(last)
        opened.comma = False
        self._step(1)

    def _as_key(self, node: Node) -> Scalar:
        if isinstance(node, Scalar):
            return node
        (line, column), (last, stop) = node.span
        return Scalar(node.span, self.lines[line][column : stop if line == last else None])

    def _scalar(self, text: str, sign: str) -> None:
        start = Position(self.line, self.column)
        self._entry(start)
        if sign in "\"'":
            self._put(self._quoted(text, sign, start))
            return
        if sign == "*" and (found := re.compile(r"\*([^\s,\[\]{}]+)").match(text, self.column)):
            self._step(len(found[0]))
            depth = self.depth + len(self._open)
            self._put(self.anchors.alias(found[1], Span(start, self.end), depth))
            return
        if sign in "&!" and (found := _PROPERTY.match(text, self.column)):
            self._step(len(found[0]))
            self._open[-1].comma = True
            return
        found = _PLAIN.match(text, self.column)
        width = len(found[0]) if found else 1
        if sign in "@`%|>":
            self.faults.append(
                messages.quotes_around(self.line, self.column, self.column + width, f"starts with `{sign}`")
            )
        self._step(width)
        self._put(Scalar(Span(start, self.end), text[start.column : self.end.column]))

    def _quoted(self, text: str, sign: str, start: Position) -> Scalar:
        style = Style.DOUBLE if sign == '"' else Style.SINGLE
        pattern = DOUBLE if sign == '"' else SINGLE
        if found := pattern.match(text, self.column):
            self._step(len(found[0]))
            return Scalar(Span(start, self.end), unquoted(found[0]), style)
        body = text[self.column + 1 :].rstrip()
        self.faults.append(messages.open_quote(self.line, self.column, len(text), sign))
        self._step(len(text) - self.column)
        return Scalar(Span(start, self.end), body.rstrip("]}, "), style)


def _pair(entry: Entry) -> Mapping:
    """`[a: b]`: one entry as a mapping without braces."""
    end = entry.value.span.end if entry.value is not None else entry.key.span.end
    return Mapping(Span(entry.key.span.start, end), (entry,), True)
