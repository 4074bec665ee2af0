"""Lines to nodes with exact places, by libyaml's events; `Rejected` where libyaml refuses.

Events are built into nodes here and not by PyYAML, because PyYAML resolves types, drops aliases
and ends block nodes at the next token. Nothing here guesses: half-typed text is for `tolerant`.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from collections.abc import Sequence as Lines
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from yaml._yaml import (
    AliasEvent,
    CParser,
    DocumentEndEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)
from yaml.error import YAMLError
from yaml.reader import ReaderError

from loop_ls.syntax.nodes import Alias, Entry, Mapping, Node, Scalar, Sequence, Style
from loop_ls.syntax.scan import content_start, scalar_end
from loop_ls.text.position import Position, Span

#: Deeper nesting is refused; a workflow needs about ten levels.
MAX_DEPTH = 100

#: Breaks of YAML 1.1 that end no line of ours: places must then be counted from offsets.
ODD_BREAKS = ("\x85", "\u2028", "\u2029")

_STYLES = {
    None: Style.PLAIN,
    "": Style.PLAIN,
    "'": Style.SINGLE,
    '"': Style.DOUBLE,
    "|": Style.LITERAL,
    ">": Style.FOLDED,
}
_position = tuple.__new__


class Rejected(Exception):
    """libyaml (or the limit of depth) refuses the text at `at`; `ended`: because it ends there."""

    def __init__(self, problem: str, at: Position, ended: bool = False) -> None:
        super().__init__(problem)
        self.problem, self.at, self.ended = problem, at, ended


@dataclass(slots=True)
class Composed:
    """The first document of some lines. `aliases` are those without an anchor in these lines."""

    node: Node | None
    end: Position
    anchors: dict[str, Node | None]
    aliases: list[Alias]
    recursive: list[Alias]


class _Frame:
    """A collection that is still open."""

    __slots__ = ("anchor", "end", "flow", "is_mapping", "key", "parts", "start", "tag")

    def __init__(self, is_mapping: bool, flow: bool, start: Position, anchor: str | None, tag: str | None) -> None:
        self.is_mapping, self.flow, self.start, self.anchor, self.tag = is_mapping, flow, start, anchor, tag
        self.end = start
        self.key: Scalar | None = None
        self.parts: list[Any] = []


def compose(lines: Lines[str], more: bool = False) -> Composed:
    """The nodes of `lines`, places relative to the first of them. `more`: a line follows the last."""
    text = "\n".join(lines) + "\n" if more else "\n".join(lines)
    try:
        return _Builder(lines, text).build(CParser(text))
    except YAMLError as error:
        raise _rejected(error, lines, text) from None
    except UnicodeEncodeError as error:
        at = _offset_position(_offsets(lines), error.start)
        raise Rejected("half of a surrogate pair", at) from None


class _Builder:
    def __init__(self, lines: Lines[str], text: str) -> None:
        self.lines = lines
        odd = any(character in text for character in ODD_BREAKS)
        self.offsets = _offsets(lines) if odd else None
        self.anchors: dict[str, Node | None] = {}
        self.open_anchors: set[str] = set()
        self.aliases: list[Alias] = []
        self.recursive: list[Alias] = []

    def place(self, mark: Any) -> Position:
        if self.offsets is None:
            return _position(Position, (mark.line, mark.column))
        return _offset_position(self.offsets, mark.index)

    def build(self, parser: Any) -> Composed:
        next_event = parser.get_event
        place = self.place
        stack: list[_Frame] = []
        root: Node | None = None
        end = Position(0, 0)
        node: Node | None
        while True:
            event = next_event()
            kind = type(event)
            if kind is ScalarEvent:
                last, end = end, place(event.end_mark)
                node = self.scalar(event, end)
                if node is not None:
                    end = node.span.end
                elif not self.behind_sign(end):
                    end = last
            elif kind is MappingStartEvent or kind is SequenceStartEvent:
                if len(stack) >= MAX_DEPTH:
                    raise Rejected("nested too deep", place(event.start_mark))
                start = place(event.start_mark)
                anchor, tag = event.anchor, event.tag
                if anchor is not None or tag is not None:
                    start = content_start(self.lines, start)
                    if anchor is not None:
                        self.open_anchors.add(anchor)
                        self.anchors.pop(anchor, None)
                stack.append(_Frame(kind is MappingStartEvent, bool(event.flow_style), start, anchor, tag))
                continue
            elif kind is MappingEndEvent or kind is SequenceEndEvent:
                frame = stack.pop()
                if frame.flow:
                    end = place(event.end_mark)
                    if frame.parts and not self.bracketed(frame):
                        end = frame.end
                else:
                    end = frame.end
                node = self.collection(frame, end)
            elif kind is AliasEvent:
                end = place(event.end_mark)
                node = self.alias(event.anchor, Span(place(event.start_mark), end))
            elif kind is DocumentEndEvent:
                next_event()  # text behind the root is refused only now
                return Composed(root, end, self.anchors, self.aliases, self.recursive)
            elif kind is StreamEndEvent or event is None:
                return Composed(root, end, self.anchors, self.aliases, self.recursive)
            else:
                continue
            if not stack:
                root = node
                continue
            frame = stack[-1]
            frame.end = end
            if not frame.is_mapping:
                frame.parts.append(node)
            elif frame.key is None:
                frame.key = self.key(node, end)
            else:
                frame.parts.append(Entry(frame.key, node))
                frame.key = None

    def scalar(self, event: Any, end: Position) -> Scalar | None:
        value, style = event.value, _STYLES[event.style]
        start = self.place(event.start_mark)
        anchor, tag = event.anchor, event.tag
        if style is Style.PLAIN and not value and anchor is None and tag is None:
            return None
        if anchor is not None or tag is not None:
            start = min(content_start(self.lines, start), end) if value or style is not Style.PLAIN else end
        if style is Style.LITERAL or style is Style.FOLDED:
            end = scalar_end(self.lines, start, end)
        node = Scalar(Span(start, end), value, style, anchor, tag)
        if anchor is not None:
            self.anchors[anchor] = node
            self.open_anchors.discard(anchor)
        return node

    def behind_sign(self, at: Position) -> bool:
        """Whether a missing value is missed right behind its colon or dash, and not further down."""
        line, column = at
        return line < len(self.lines) and self.lines[line][max(column - 1, 0) : column] in (":", "-", "?")

    def alias(self, name: str, span: Span) -> Alias:
        node = Alias(span, name, self.anchors.get(name))
        if node.target is None:
            (self.recursive if name in self.open_anchors else self.aliases).append(node)
        return node

    def bracketed(self, frame: _Frame) -> bool:
        """Whether a flow collection has brackets: `[a: b]` holds a mapping without any."""
        line, column = frame.start
        return self.lines[line][column : column + 1] in ("[", "{")

    def collection(self, frame: _Frame, end: Position) -> Node:
        span = Span(frame.start, end)
        node: Node
        if frame.is_mapping:
            node = Mapping(span, tuple(frame.parts), frame.flow, frame.anchor, frame.tag)
        else:
            node = Sequence(span, tuple(frame.parts), frame.flow, frame.anchor, frame.tag)
        if frame.anchor is not None:
            self.anchors[frame.anchor] = node
            self.open_anchors.discard(frame.anchor)
        return node

    def key(self, node: Node | None, end: Position) -> Scalar:
        """What stands as a key: a scalar; anything else counts as the text that is written there."""
        if isinstance(node, Scalar):
            return node
        if node is None:
            return Scalar(Span(end, end), "")
        if isinstance(node, Alias) and isinstance(node.target, Scalar):
            return Scalar(node.span, node.target.text)
        (line, column), (last, stop) = node.span
        if line == last:
            return Scalar(node.span, self.lines[line][column:stop])
        written = [self.lines[line][column:], *self.lines[line + 1 : last], self.lines[last][:stop]]
        return Scalar(node.span, "\n".join(written))


def _offsets(lines: Lines[str]) -> list[int]:
    """Where each line starts in the joined text."""
    return list(accumulate((len(line) + 1 for line in lines), initial=0))[:-1]


def _offset_position(offsets: list[int], index: int) -> Position:
    line = bisect_right(offsets, index) - 1
    return Position(line, index - offsets[line])


def _rejected(error: YAMLError, lines: Lines[str], text: str) -> Rejected:
    if isinstance(error, ReaderError):
        position = text.find(chr(error.character)) if isinstance(error.character, int) else 0
        return Rejected("control character", _offset_position(_offsets(lines), max(0, position)))
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    problem = str(getattr(error, "problem", None) or error)
    if mark is None:
        return Rejected(problem, Position(0, 0))
    ended = mark.index >= len(text.rstrip())
    return Rejected(problem, _offset_position(_offsets(lines), min(mark.index, len(text))), ended)


def completes_behind(lines: Iterable[str], line: int) -> bool:
    """Whether the first entry or item of `lines` ends well at or behind `line`. Reads only that far."""
    parser = CParser(_Feed(iter(lines)))
    depth = 0
    try:
        while (event := parser.get_event()) is not None:
            kind = type(event)
            if kind is MappingStartEvent or kind is SequenceStartEvent:
                depth += 1
                if depth > MAX_DEPTH:
                    return False
            elif kind is MappingEndEvent or kind is SequenceEndEvent:
                depth -= 1
            if depth <= 1 and event.start_mark.line >= line:
                return True
    except (YAMLError, UnicodeEncodeError):
        return False
    return True


class _Feed:
    """Lines as the stream that libyaml reads block by block."""

    def __init__(self, lines: Iterator[str]) -> None:
        self._lines = lines

    def read(self, size: int) -> str:
        parts, length = [], 0
        for line in self._lines:
            parts.append(line + "\n")
            length += len(line) + 1
            if length >= size:
                break
        return "".join(parts)
