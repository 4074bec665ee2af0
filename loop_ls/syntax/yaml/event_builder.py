"""Lines to nodes with exact places, by libyaml's events; `Rejected` where libyaml refuses.

Events are built into nodes here and not by PyYAML, because PyYAML resolves types, drops aliases
and ends block nodes at the next token. Nothing here guesses: half-typed text is for `error_recovery`.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Sequence as Lines
from typing import Any

from yaml.error import YAMLError
from yaml.events import (
    AliasEvent,
    DocumentEndEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)

from loop_ls.syntax.nodes import Alias, Entry, Mapping, Node, Scalar, Sequence, Style
from loop_ls.syntax.yaml.anchors import MAX_DEPTH, Anchored, Anchors
from loop_ls.syntax.yaml.composed import ODD_BREAKS, Composed
from loop_ls.syntax.yaml.libyaml import Events, Feed, events
from loop_ls.syntax.yaml.merge import MERGE, merge
from loop_ls.syntax.yaml.refusal import Rejected, offset_position, offsets, rejected
from loop_ls.syntax.yaml.scan import content_start, scalar_end
from loop_ls.text.position import Position, Span

_STYLES = {"'": Style.SINGLE, '"': Style.DOUBLE, "|": Style.LITERAL, ">": Style.FOLDED}
_new = tuple.__new__


class _Frame:
    """A collection that is still open."""

    __slots__ = ("anchor", "end", "flow", "is_mapping", "key", "merges", "parts", "start", "tag")

    def __init__(self, is_mapping: bool, flow: bool, start: Position, anchor: str | None, tag: str | None) -> None:
        self.is_mapping, self.flow, self.start, self.anchor, self.tag = is_mapping, flow, start, anchor, tag
        self.end = start
        self.merges = False
        self.key: Scalar | None = None
        self.parts: list[Any] = []


def compose(lines: Lines[str], more: bool = False, outer: Iterable[Anchored] = ()) -> Composed:
    """The nodes of `lines`, places relative to the first of them. `more`: a line follows the last. `outer`: anchors
    in front of them."""
    text = "\n".join(lines) + "\n" if more else "\n".join(lines)
    try:
        return _Builder(lines, text, outer).build(events(text))
    except (YAMLError, UnicodeEncodeError) as error:
        raise rejected(error, lines, text) from None


def completes_behind(lines: Iterable[str], line: int) -> bool:
    """Whether the first entry or item of `lines` ends well at or behind `line`. Reads only that far."""
    next_event = events(Feed(lines)).get_event
    depth = 0
    try:
        while (event := next_event()) is not None:
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


class _Builder:
    def __init__(self, lines: Lines[str], text: str, outer: Iterable[Anchored]) -> None:
        self.lines = lines
        odd = any(character in text for character in ODD_BREAKS)
        self.offsets = offsets(lines) if odd else None
        self.anchors = Anchors(outer)

    def place(self, mark: Any) -> Position:
        if self.offsets is None:
            return _new(Position, (mark.line, mark.column))
        return offset_position(self.offsets, mark.index)

    def build(self, parser: Events) -> Composed:
        next_event, place, new, exact = parser.get_event, self.place, tuple.__new__, self.offsets is None
        stack: list[_Frame] = []
        frame: _Frame | None = None
        root: Node | None = None
        end = Position(0, 0)
        while True:
            event = next_event()
            kind = type(event)
            node: Node | None
            if kind is ScalarEvent:
                if exact and event.value and not event.style and event.anchor is None and event.tag is None:
                    a, b = event.start_mark, event.end_mark
                    end = new(Position, (b.line, b.column))
                    node = Scalar(new(Span, (new(Position, (a.line, a.column)), end)), event.value)
                elif (node := self.scalar(event)) is not None:
                    end = node.span[1]
                elif self.behind_sign(missed := place(event.end_mark)):
                    end = missed
            elif kind is MappingStartEvent or kind is SequenceStartEvent:
                frame = self.begin(event, kind is MappingStartEvent, len(stack))
                stack.append(frame)
                continue
            elif kind is MappingEndEvent or kind is SequenceEndEvent:
                node = self.collection(stack.pop(), event, end)
                end = node.span[1]
                frame = stack[-1] if stack else None
            elif kind is AliasEvent:
                end = place(event.end_mark)
                node = self.anchors.alias(event.anchor, Span(place(event.start_mark), end), len(stack))
            elif kind is DocumentEndEvent:
                next_event()  # text behind the root is refused only now
                return self.composed(root)
            elif kind is StreamEndEvent or event is None:
                return self.composed(root)
            else:
                continue
            if frame is None:
                root = node
            elif not frame.is_mapping:
                frame.parts.append(node)
                frame.end = end
            elif frame.key is None:
                frame.key = self.key(node, end, frame)
                frame.end = end
            else:
                frame.parts.append(Entry(frame.key, node))
                frame.key = None
                frame.end = end

    def composed(self, root: Node | None) -> Composed:
        found = self.anchors
        return Composed(root, found.found(), tuple(found.missing), tuple(found.faults), found.added)

    def scalar(self, event: Any) -> Scalar | None:
        value, written, anchor, tag = event.value, event.style, event.anchor, event.tag
        if anchor is not None or tag is not None:
            return self.marked_scalar(event)
        if not written and not value:
            return None
        start, end = self.place(event.start_mark), self.place(event.end_mark)
        if not written:
            return Scalar(_new(Span, (start, end)), value)
        style = _STYLES[written]
        if style.block:
            end = scalar_end(self.lines, start, end)
        return Scalar(_new(Span, (start, end)), value, style)

    def marked_scalar(self, event: Any) -> Scalar:
        """A scalar behind an anchor or tag; libyaml's place includes those."""
        start, end = self.place(event.start_mark), self.place(event.end_mark)
        style = _STYLES.get(event.style, Style.PLAIN)
        start = min(content_start(self.lines, start), end) if event.value or style is not Style.PLAIN else end
        if style.block:
            end = scalar_end(self.lines, start, end)
        node = Scalar(Span(start, end), event.value, style, event.anchor, event.tag)
        if event.anchor is not None:
            self.anchors.end(event.anchor, node)
        return node

    def begin(self, event: Any, is_mapping: bool, depth: int) -> _Frame:
        start = self.place(event.start_mark)
        if depth >= MAX_DEPTH:
            raise Rejected("nested too deep", start)
        anchor, tag = event.anchor, event.tag
        if anchor is not None or tag is not None:
            start = content_start(self.lines, start)
            if anchor is not None:
                self.anchors.begin(anchor)
        return _Frame(is_mapping, event.flow_style, start, anchor, tag)

    def behind_sign(self, at: Position) -> bool:
        """Whether a missing value is missed right behind its colon or dash, and not further down."""
        line, column = at
        return line < len(self.lines) and self.lines[line][max(column - 1, 0) : column] in (":", "-", "?")

    def collection(self, frame: _Frame, event: Any, end: Position) -> Mapping | Sequence:
        """The node of a frame; `end` is where its last part ends."""
        if frame.flow and (not frame.parts or self.bracketed(frame)):
            end = self.place(event.end_mark)
        elif not frame.flow:
            end = frame.end
        span = Span(frame.start, end)
        node: Mapping | Sequence
        if frame.is_mapping:
            entries, merges = merge(frame.parts, self.anchors) if frame.merges else (tuple(frame.parts), ())
            node = Mapping(span, entries, frame.flow, frame.anchor, frame.tag, merges)
        else:
            node = Sequence(span, tuple(frame.parts), frame.flow, frame.anchor, frame.tag)
        if frame.anchor is not None:
            self.anchors.end(frame.anchor, node)
        return node

    def bracketed(self, frame: _Frame) -> bool:
        """Whether a flow collection has brackets: `[a: b]` holds a mapping without any."""
        line, column = frame.start
        return self.lines[line][column : column + 1] in ("[", "{")

    def key(self, node: Node | None, end: Position, frame: _Frame) -> Scalar:
        """What stands as a key: a scalar; anything else counts as the text that is written there."""
        if type(node) is Scalar:
            if node.text == MERGE:
                frame.merges = True
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
