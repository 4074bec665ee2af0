"""Semantic tokens: variables by kind, references, names, keys without effect.

What is read from an element is kept as long as it is the same; only the kind of a variable depends on the
rest of the file. Prose, plain keys and values are left to the editor's own colours.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from loop_ls.features.language_support import support_of
from loop_ls.features.lookup.pieces import with_starts
from loop_ls.features.rename.occurrences import meant_by
from loop_ls.features.semantic_tokens.token import DECLARATION, DEPRECATED, READONLY, Token, TokenType, apart
from loop_ls.formats.common.key_table import Type
from loop_ls.formats.common.typed_mapping import Block, Field, Pair
from loop_ls.index.document import Document
from loop_ls.index.element import Element
from loop_ls.index.piece_facts import Facts
from loop_ls.index.top_level import Top
from loop_ls.text.position import Position, Span


def tokens(document: Document, span: Span | None = None) -> tuple[Token, ...]:
    """All tokens in order, or those of the lines of `span`."""
    return support_of(document).tokens(document, span)


def workflow_tokens(document: Document, span: Span | None) -> tuple[Token, ...]:
    found: list[Token] = []
    for start, piece, facts in with_starts(document):
        if span is not None and start > span.end.line:
            break
        if span is not None and start + len(piece.lines) <= span.start.line:
            continue
        own = [one._replace(line=one.line + start) for one in _of_part(document, facts)]
        found += (one for one in own if span is None or span.start.line <= one.line <= span.end.line)
    return tuple(apart(found))


def tokens_of_part(document: Document, facts: Facts) -> tuple[Token, ...]:
    """The tokens of one piece, lines counted from its first one. They change with the piece, and
    when one of the names that it mentions is defined or no more."""
    return tuple(apart(_of_part(document, facts)))


def _of_part(document: Document, facts: Facts) -> list[Token]:
    raw = _top(facts.top) if facts.top is not None else ()
    for element in facts.elements:
        raw = (*raw, *_element(element))
    return sorted(_token(document, one) for one in raw)


class _Raw(NamedTuple):
    """`variable` is looked up in the file; without one the type is settled."""

    span: Span
    type: TokenType
    modifiers: int = 0
    variable: str = ""


def _token(document: Document, raw: _Raw) -> Token:
    (line, column), (_, end) = raw.span
    kind, modifiers = raw.type, raw.modifiers
    if raw.variable:
        kind, modifiers = _kind(document, raw.variable)
    return Token(line, column, end - column, kind, modifiers)


def _kind(document: Document, variable: str) -> tuple[TokenType, int]:
    owner = meant_by(document, variable)
    if owner is not None and owner in document.names:
        return TokenType.VARIABLE, 0
    match variable.partition(".")[0]:
        case "env":
            return TokenType.PROPERTY, READONLY
        case "loop":
            return TokenType.KEYWORD, READONLY
        case _:
            return TokenType.PARAMETER, 0


@lru_cache(maxsize=4096)
def _element(element: Element) -> tuple[_Raw, ...]:
    """On one line each; what stands behind an alias gets its colours where it is written."""
    return tuple(one for one in _of_element(element) if 0 <= one.span.start.line == one.span.end.line)


def _of_element(element: Element) -> Iterator[_Raw]:
    lines = element.piece.lines
    if element.name_span is not None:
        yield _Raw(_bare(lines, element.name_span), TokenType.VARIABLE, DECLARATION)
    if element.accumulate is not None:
        yield _Raw(_bare(lines, element.accumulate.span), TokenType.VARIABLE, DECLARATION)
    if element.reference is not None and element.reference.text:
        yield _Raw(_bare(lines, element.reference.span), TokenType.FUNCTION)
    for need in element.needs:
        yield _Raw(_bare(lines, need.span), TokenType.VARIABLE)
    for use in element.uses:
        yield _Raw(use.name_span, TokenType.VARIABLE, 0, use.name)
        if use.span != use.name_span and use.span.start.line == use.span.end.line:
            (line, first), (_, last) = use.span
            yield _Raw(Span(Position(line, first), Position(line, first + 2)), TokenType.OPERATOR)
            yield _Raw(Span(Position(line, last - 2), Position(line, last)), TokenType.OPERATOR)
    for block in element.block.walk():
        yield from _keys(lines, block)


@lru_cache(maxsize=256)
def _top(top: Top) -> tuple[_Raw, ...]:
    field, lines = top.field, top.piece.lines
    if field is None:
        return ()
    if top.name == "name" and field.value:
        return (_Raw(_bare(lines, field.span), TokenType.FUNCTION, DECLARATION),)
    found = list(_keys(lines, field.value)) if isinstance(field.value, Block) else []
    if top.name == "env":
        found += [_Raw(_bare(lines, key), TokenType.PROPERTY, DECLARATION | READONLY) for key in _pair_keys(field)]
    return tuple(one for one in found if 0 <= one.span.start.line == one.span.end.line)


def _keys(lines: tuple[str, ...], block: Block) -> Iterator[_Raw]:
    for field in block.fields.values():
        if field.entry.merged:
            continue
        if field.key.idle:
            yield _Raw(_bare(lines, field.entry.key.span), TokenType.PROPERTY, DEPRECATED)
        if field.key.type is Type.ARGUMENTS:
            for key in _pair_keys(field):
                yield _Raw(_bare(lines, key), TokenType.PARAMETER, DECLARATION)


def _pair_keys(field: Field) -> list[Span]:
    pairs = field.value if isinstance(field.value, tuple) else ()
    return [pair.entry.key.span for pair in pairs if isinstance(pair, Pair) and not pair.entry.merged]


def _bare(lines: tuple[str, ...], span: Span) -> Span:
    (line, column), (end_line, end) = span
    if line == end_line and end - column >= 2 and 0 <= line < len(lines):
        text = lines[line][column:end]
        if text[0] in "'\"" and text[-1] == text[0]:
            return Span(Position(line, column + 1), Position(line, end - 1))
    return span
