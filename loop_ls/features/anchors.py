"""YAML anchors by their names: where one is written, which aliases mean it, and what stands there.

The tree knows the name of an anchor but not where it is written: that is found in the lines before its node.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from loop_ls.index.document import Document
from loop_ls.syntax.nodes import Alias, Mapping, Node, Sequence
from loop_ls.text.position import Position, Span

#: What may be called so: neither blanks nor the signs of flow collections.
_NAME = re.compile(r"[^\s,\[\]{}]+")
_WRITTEN = re.compile(r"(?<!\S)&([^\s,\[\]{}]+)|(?<=[\[{,])&([^\s,\[\]{}]+)")
_BETWEEN = re.compile(r"(?:[ \t]*(?:![^\s]*[ \t]*)?(?:#.*)?)?")
#: An alias that is being typed where a value may stand.
_TYPED = re.compile(r"(?:(?:^|[ \t])-[ \t]+|:[ \t]+|[\[,][ \t]*)(\*[^\s,\[\]{}]*)$")
_DEPTH = 40
#: Lines of an anchored part that are shown.
MOST_LINES = 20


@dataclass(frozen=True, slots=True)
class Anchor:
    """`content` is what the anchor marks, `at` the place of the bare name behind `&`, None where it is not found;
    `aliases` are bare names, too. Places are absolute."""

    name: str
    content: Span
    at: Span | None
    aliases: tuple[Span, ...]

    def written(self, document: Document) -> str:
        """Its text without the indentation, cut behind `MOST_LINES`."""
        begin, end = self.content
        last = end.line - 1 if end.column == 0 and end.line > begin.line else end.line
        lines = list(document.text.lines[begin.line : last + 1])
        if end.line == last:
            lines[-1] = lines[-1][: end.column]
        lines[0] = " " * begin.column + lines[0][begin.column :]
        shown = textwrap.dedent("\n".join(lines[:MOST_LINES])).rstrip()
        return f"{shown}\n…" if len(lines) > MOST_LINES else shown


def anchor_at(document: Document, at: Position) -> Anchor | None:
    """The anchor that the cursor is on, at its own place or at one of its aliases."""
    if document.format is None or not 0 <= at.line < len(document.text.lines):
        return None
    line = document.text.lines[at.line]
    if "&" not in line and "*" not in line:
        return None
    nodes = list(_nodes(document))
    aliases = [
        _Placed(node.name, node.target.span.shift(start), node.span.shift(start))
        for node, start in nodes
        if isinstance(node, Alias) and node.target is not None
    ]
    for alias in aliases:
        if alias.at.contains(at):
            return _anchor(document, alias.name, alias.content, aliases)
    written = next((match for match in _WRITTEN.finditer(line) if match.start() <= at.column <= match.end()), None)
    if written is None:
        return None
    name = written[1] or written[2]
    named = (node.span.shift(start) for node, start in nodes if not isinstance(node, Alias) and node.anchor == name)
    found = (_anchor(document, name, content, aliases) for content in named)
    return next(
        (
            one
            for one in found
            if one.at is not None and one.at.start.column == written.end() - len(name) and one.at.start.line == at.line
        ),
        None,
    )


def typed_alias(line: str, at: Position) -> Span | None:
    """The place of `*na` in front of the cursor, the rest of its name behind it included."""
    found = _TYPED.search(line, 0, at.column)
    if found is None:
        return None
    rest = _NAME.match(line, at.column)
    return Span(Position(at.line, found.start(1)), Position(at.line, rest.end() if rest is not None else at.column))


def is_anchor_name(text: str) -> bool:
    return _NAME.fullmatch(text) is not None


def names(document: Document) -> frozenset[str]:
    """The names of all anchors."""
    return frozenset(node.anchor for node, _ in _nodes(document) if not isinstance(node, Alias) and node.anchor)


def written_before(document: Document, line: int) -> Iterator[tuple[str, int]]:
    """The names of the anchors above `line` with their lines, nearest first."""
    seen: set[str] = set()
    for number in range(line - 1, -1, -1):
        text = document.text.lines[number]
        if "&" not in text:
            continue
        for match in _WRITTEN.finditer(text):
            name, before = match[1] or match[2], text[: match.start()].rstrip()
            if name not in seen and (not before or before[-1] in ":-[{,") and "#" not in before:
                seen.add(name)
                yield name, number


class _Placed(NamedTuple):
    """An alias, and what it stands for. Places are absolute, which tells anchors of one name apart."""

    name: str
    content: Span
    at: Span


def _nodes(document: Document) -> Iterator[tuple[Node, int]]:
    """All nodes of the parts that have anchors or aliases, with the line that their places count from."""
    tree = document.tree
    for piece in tree.linked:
        start = tree.start_of(piece)
        for node in _walk(piece.node):
            yield node, start


def _anchor(document: Document, name: str, content: Span, aliases: list[_Placed]) -> Anchor:
    own = tuple(_bare(alias.at) for alias in aliases if (alias.name, alias.content) == (name, content))
    return Anchor(name, content, _place(document, name, content.start), own)


def _bare(span: Span) -> Span:
    """Behind the star."""
    return Span(Position(span.start.line, span.start.column + 1), span.end)


def _place(document: Document, name: str, begin: Position) -> Span | None:
    """Where `&name` stands before its node: on the same line or above, with only a tag or comment between."""
    lines = document.text.lines
    for line in range(begin.line, max(begin.line - 4, -1), -1):
        limit = begin.column if line == begin.line else len(lines[line])
        for match in _WRITTEN.finditer(lines[line], 0, limit):
            if (match[1] or match[2]) == name and _BETWEEN.fullmatch(lines[line], match.end(), limit):
                return Span(Position(line, match.start() + 1), Position(line, match.end()))
    return None


def _walk(node: Node | None, depth: int = _DEPTH) -> Iterator[Node]:
    """All nodes that are written, aliases not followed, merge keys included."""
    if node is None or not depth:
        return
    yield node
    match node:
        case Mapping():
            for merge in node.merges:
                yield from _walk(merge.value, depth - 1)
            for entry in node.entries:
                if not entry.merged:
                    yield from _walk(entry.value, depth - 1)
        case Sequence():
            for item in node.items:
                yield from _walk(item, depth - 1)
        case _:
            return
