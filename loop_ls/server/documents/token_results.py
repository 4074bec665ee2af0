"""Semantic tokens as numbers: the last answer for each open document, so that the next one can be a difference, and
the numbers of each part of it, so that only what changed is looked at."""

from __future__ import annotations

from collections.abc import Iterable, Set
from typing import TYPE_CHECKING, NamedTuple

from loop_ls.features.lookup.pieces import with_starts
from loop_ls.features.semantic_tokens.token import Token, TokenType
from loop_ls.features.semantic_tokens.tokens import tokens, tokens_of_part
from loop_ls.text.position import Position

if TYPE_CHECKING:
    from loop_ls.index.document import Document
    from loop_ls.index.piece_facts import Facts
    from loop_ls.server.documents.position_mapping import PositionMapping
    from loop_ls.server.documents.session import Session
    from loop_ls.syntax.incremental.piece import Piece

_INDEX = {kind: index for index, kind in enumerate(TokenType)}


class _Part(NamedTuple):
    """The numbers of a part; the first and last line with a token, counted from its first one."""

    data: list[int]
    first: int
    last: int


class _Parts(NamedTuple):
    """`defined`: what the kinds of variables were decided by."""

    defined: Set[str]
    of: dict[Piece, _Part]


class TokenResults:
    """By the key of a document: the id that the client knows the answer by, and its numbers."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._last: dict[str, tuple[str, list[int]]] = {}
        self._parts: dict[str, _Parts] = {}
        self._number = 0

    def keep(self, key: str, data: list[int]) -> str:
        self._number += 1
        name = str(self._number)
        for gone in self._last.keys() - self._session.open.keys():
            del self._last[gone]
            self._parts.pop(gone, None)
        self._last[key] = (name, data)
        return name

    def before(self, key: str, name: object) -> list[int] | None:
        known = self._last.get(key)
        return known[1] if known is not None and known[0] == name else None

    def encoded(self, key: str, document: Document, places: PositionMapping) -> list[int]:
        """All tokens of a document."""
        if not document.is_workflow:
            return encoded(places, tokens(document))
        known = self._parts.get(key)
        before = known.of if known is not None else {}
        changed = known.defined ^ document.defined if known is not None else frozenset()
        fresh: dict[Piece, _Part] = {}
        data: list[int] = []
        line, taken = 0, -1
        for start, piece, facts in with_starts(document):
            part = before.get(piece)
            if part is None or (changed and _mentions(facts, changed)):
                part = _part(places, start, tokens_of_part(document, facts))
            fresh[piece] = part
            if not part.data:
                continue
            if start == taken:  # parts that share their lines may have tokens on one line
                return encoded(places, tokens(document))
            at = len(data)
            data += part.data
            data[at] = start + part.first - line
            line, taken = start + part.last, start
        self._parts[key] = _Parts(document.defined, fresh)
        return data


def _mentions(facts: Facts, names: Set[str]) -> bool:
    return any(not element.mentioned.isdisjoint(names) for element in facts.elements)


def _part(places: PositionMapping, start: int, found: tuple[Token, ...]) -> _Part:
    if not found:
        return _Part([], 0, 0)
    placed = [one._replace(line=one.line + start) for one in found]
    return _Part(encoded(places, placed), found[0].line, found[-1].line)


def encoded(places: PositionMapping, found: Iterable[Token]) -> list[int]:
    """Five numbers for each: lines and columns count from the token before."""
    data: list[int] = []
    last_line = last_column = 0
    for token in found:
        column = places.position(Position(token.line, token.column))["character"]
        end = places.position(Position(token.line, token.column + token.length))["character"]
        if token.line != last_line:
            last_column = 0
        data += (token.line - last_line, column - last_column, end - column, _INDEX[token.type], token.modifiers)
        last_line, last_column = token.line, column
    return data
