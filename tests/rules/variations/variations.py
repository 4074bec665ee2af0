"""Variations: an example of a page with one value left out, emptied or exchanged for another one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple
from zlib import crc32

from loop_ls.formats.workflow.placeholder_syntax import PLACEHOLDER
from loop_ls.index.document import Document
from loop_ls.syntax.nodes import Alias, Entry, Mapping, Node, Scalar, Sequence
from loop_ls.text.position import Position, Span

#: What stands in for a value, by its kind; a JSON file takes those that it can read.
NUMBERS = ("0", "1", "-1.5", "21", "99999", "true", "[]")
FLAGS = ("true", "false", "5", '""')
TEXTS = (
    '""',
    '"text"',
    '"{{input}}"',
    '"{{nothing}}"',
    "5",
    "true",
    "[]",
    "{}",
    '["text", 5, null]',
    '"Is it good? {{loop.output}}"',
)
LISTS = ("[]", '["text", 5, null]', '["text", "text"]', '{"a": "b"}', '"text"', "[{}]")
MAPPINGS = ("{}", '{"a": "b"}', '{"name": "b", "text": 5}', "[]", '"text"')
YAML_ONLY = ("", "~", "*nothing", "!tag x", "|", "&here 5", "{<<: {name: c, run: d}}")
#: What stands in for a variable: other names, which may be made of its own, and what only looks like one.
NAMES = (
    *("{0}.output", "{0}.x", "{0}x", "{0}.results", "step.{0}", "step.{0}x", "steps.{0}.output", "step.{0}.x"),
    *("loop.output", "loop.last.output", "loop.history", "loop.iteration", "loop.index", "loop.current", "loop.count"),
    *("loop.succeeded", "loop.item.x", "Loop.outputs", "last.output", "loop_output", "loop", "item", "other.x"),
    *("env.TONE", "env.TONE.x", "ENV.tone", "env.OTHER", "env_TONE", "input", "inputt", "input.x", "output"),
    *("{0} | up", "{0} now", "{0}.", "{0}..x", "env.", ".{0}", "", "$", "a: 1"),
)
WRITTEN = (
    *("{{{{{{{0}}}}}}}", "{{{{{0}", "{{{{{0}}}", "{{step.{0}}}", "{{loop.output}}", "${{loop.output}}", "{{loop.x}}"),
    *("`{{loop.output}}`", "{{env.TONE}}", "$HOME_DIR", "${{HOST}}", "{{% if {0} %}}", "{0}", ""),
)
VARIABLES = (*(f"{{{{{{{{{name}}}}}}}}}" for name in NAMES), *WRITTEN)
#: So many stand-ins are tried for each value.
EACH = 2


class Variation(NamedTuple):
    what: str
    document: Document


def variations(document: Document, head: int) -> Iterator[Variation]:
    """Every value behind the first `head` lines is varied; which stand-ins it gets depends on itself only."""
    json = document.path.endswith(".json")
    for piece in document.tree.pieces:
        for node, entry in _values(piece.node):
            span = document.absolute(piece, node.span)
            if span.start.line < head:
                continue
            written = document.text.slice(span)
            for text in _stand_ins(node, written, json):
                if text != written:
                    yield _varied(document, span, text)
            if not json and isinstance(node, Mapping) and node.flow:
                yield _varied(document, span, f"{{<<: {written}}}")
            if entry is not None:
                yield _varied(document, _whole(document, document.absolute(piece, entry.key.span), span), "")


def slips(document: Document, head: int) -> Iterator[Variation]:
    """Every key behind the first `head` lines with two of its letters the other way round."""
    for span in _keys(document):
        written = document.text.slice(span)
        slip = next((found for at in range(1, len(written)) if (found := _slipped(written, at)) != written), written)
        if span.start.line >= head and slip != written:
            yield _varied(document, span, slip)


def _slipped(written: str, at: int) -> str:
    return written[:at] + written[at : at + 2][::-1] + written[at + 2 :] if written[at - 1] != '"' else written


def _keys(document: Document) -> Iterator[Span]:
    for piece in document.tree.pieces:
        if piece.key is not None:
            yield document.absolute(piece, piece.key.span)
        for _, entry in _values(piece.node):
            if entry is not None:
                yield document.absolute(piece, entry.key.span)


def exchanged(document: Document, head: int) -> Iterator[Variation]:
    """Every variable behind the first `head` lines exchanged for others; for which ones depends on its line."""
    for number, line in enumerate(document.text.lines):
        for found in PLACEHOLDER.finditer(line) if number >= head else ():
            first = crc32(f"{found.start()} {line}".encode())
            for at in range(EACH):
                stand_in = VARIABLES[(first + at * (len(VARIABLES) // EACH)) % len(VARIABLES)]
                written = stand_in.format(found[1].partition(".")[0])
                if written != found[0]:
                    span = Span(Position(number, found.start()), Position(number, found.end()))
                    yield _varied(document, span, written)


def _varied(document: Document, span: Span, text: str) -> Variation:
    line, column = span.start
    written = document.text.slice(span)
    return Variation(f"{line + 1}:{column + 1} `{shortened(written)}` → `{shortened(text)}`", document.edit(span, text))


def shortened(text: str) -> str:
    shown = text.replace("\n", "⏎")
    return shown if len(shown) <= 40 else f"{shown[:30]}…{shown[-8:]}"


def _whole(document: Document, key: Span, value: Span) -> Span:
    """An entry with the comma or the lines that it takes."""
    text = document.text
    end = value.end
    rest = text.line(end.line)[end.column :]
    if rest.startswith(","):
        return Span(key.start, Position(end.line, end.column + len(rest) - len(rest[1:].lstrip())))
    before = text.line(key.start.line)[: key.start.column].rstrip()
    if before.endswith(","):
        return Span(Position(key.start.line, len(before) - 1), end)
    return Span(key.start, end)


def _stand_ins(node: Node, written: str, json: bool) -> tuple[str, ...]:
    pool = _pool(node) if json else (*_pool(node), *YAML_ONLY)
    first = crc32(written.encode())
    return tuple(pool[(first + number * (len(pool) // EACH)) % len(pool)] for number in range(EACH))


def _pool(node: Node) -> tuple[str, ...]:
    match node:
        case Mapping():
            return MAPPINGS
        case Sequence():
            return LISTS
        case Scalar(text="true" | "false"):
            return FLAGS
        case Scalar() if node.text.lstrip("-").replace(".", "", 1).isdecimal():
            return NUMBERS
        case Scalar() | Alias():
            return TEXTS


def _values(node: Node | None, entry: Entry | None = None) -> Iterator[tuple[Node, Entry | None]]:
    """A value and all that is in it, each with the entry that it is the value of."""
    if node is None:
        return
    yield node, entry
    match node:
        case Mapping():
            for one in node.entries:
                yield from _values(one.value, one)
        case Sequence():
            for item in node.items:
                yield from _values(item)
        case Scalar() | Alias():
            return
