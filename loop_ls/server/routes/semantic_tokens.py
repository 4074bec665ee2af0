"""Semantic tokens: all of a file, what changed since the last answer, or those of some lines."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from loop_ls.features.semantic_tokens.tokens import Token, TokenType, tokens
from loop_ls.server.documents.position_mapping import Places
from loop_ls.server.routes.requests import about
from loop_ls.server.rpc import methods
from loop_ls.text.position import Position

if TYPE_CHECKING:
    from loop_ls.server.language_server import LoopServer

Json = dict[str, Any]

_INDEX = {kind: index for index, kind in enumerate(TokenType)}


class _Answers:
    """The last answer for each open document, so that the next one can be a difference."""

    def __init__(self, server: LoopServer) -> None:
        self._server = server
        self._last: dict[str, tuple[str, list[int]]] = {}
        self._number = 0

    def keep(self, key: str, data: list[int]) -> str:
        self._number += 1
        name = str(self._number)
        for gone in self._last.keys() - self._server.session.open.keys():
            del self._last[gone]
        self._last[key] = (name, data)
        return name

    def before(self, key: str, name: Any) -> list[int] | None:
        known = self._last.get(key)
        return known[1] if known is not None and known[0] == name else None


def register(server: LoopServer) -> None:
    answers = _Answers(server)

    def on_full(params: Json) -> Json | None:
        asked = about(server, params)
        if asked is None:
            return None
        data = encoded(asked.places, tokens(asked.document))
        return {"resultId": answers.keep(asked.opened.key, data), "data": data}

    def on_delta(params: Json) -> Json | None:
        asked = about(server, params)
        if asked is None:
            return None
        before = answers.before(asked.opened.key, params.get("previousResultId"))
        data = encoded(asked.places, tokens(asked.document))
        name = answers.keep(asked.opened.key, data)
        if before is None:
            return {"resultId": name, "data": data}
        return {"resultId": name, "edits": difference(before, data)}

    def on_range(params: Json) -> Json | None:
        asked = about(server, params)
        if asked is None:
            return None
        return {"data": encoded(asked.places, tokens(asked.document, asked.range(params)))}

    server.protocol.raw |= {
        methods.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL: on_full,
        methods.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL_DELTA: on_delta,
        methods.TEXT_DOCUMENT_SEMANTIC_TOKENS_RANGE: on_range,
    }


def encoded(places: Places, found: Iterable[Token]) -> list[int]:
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


def difference(before: list[int], after: list[int]) -> list[Json]:
    """One edit of whole tokens: what is typed changes one stretch."""
    most = min(len(before), len(after))
    head = 0
    while head < most and before[head : head + 5] == after[head : head + 5]:
        head += 5
    tail = 0
    while tail < most - head and before[-5 - tail : len(before) - tail] == after[-5 - tail : len(after) - tail]:
        tail += 5
    if len(before) == len(after) == head:
        return []
    return [{"start": head, "deleteCount": len(before) - head - tail, "data": after[head : len(after) - tail]}]
