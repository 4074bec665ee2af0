"""Semantic tokens of role loops: parameters where they are declared and filled in, roles, braces."""

from __future__ import annotations

from collections.abc import Iterator

from loop_ls.features.rename.occurrences import bare
from loop_ls.features.semantic_tokens.token import DECLARATION, Token, TokenType, apart
from loop_ls.formats.common.json_types import text_of
from loop_ls.formats.role_loop.parts import role_part
from loop_ls.index.document import Document
from loop_ls.index.placeholders import placeholders
from loop_ls.text.position import Position, Span


def role_loop_tokens(document: Document, span: Span | None = None) -> tuple[Token, ...]:
    """In order; those of the lines of `span` where one is given."""
    found = sorted(_tokens(document), key=lambda one: one[:3])
    return tuple(apart([one for one in found if span is None or span.start.line <= one.line <= span.end.line]))


def _tokens(document: Document) -> Iterator[Token]:
    loop = document.whole.role_loop
    for item in loop.parts.listed("parameters"):
        part = item.get("name")
        if part is not None and part.node is not None and text_of(part.node):
            place = document.absolute(part.piece, part.node.span)
            yield from _token(bare(document, place), TokenType.PARAMETER, DECLARATION)
    for stage in loop.stages:
        part = role_part(stage)
        if part is not None and part.node is not None and text_of(part.node):
            yield from _token(bare(document, document.absolute(part.piece, part.node.span)), TokenType.FUNCTION)
    for one in placeholders(document):
        if one.exact and not one.idle and one.name in loop.declared:
            whole, name = document.absolute(one.piece, one.island.span), document.absolute(one.piece, one.name_span)
            yield from _token(Span(whole.start, name.start), TokenType.OPERATOR)
            yield from _token(name, TokenType.PARAMETER)
            yield from _token(Span(name.end, whole.end), TokenType.OPERATOR)


def _token(span: Span, kind: TokenType, modifiers: int = 0) -> Iterator[Token]:
    (line, column), end = span
    if end > Position(line, column) and end.line == line:
        yield Token(line, column, end.column - column, kind, modifiers)
