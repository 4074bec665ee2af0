"""Semantic tokens: all of a file, what changed since the last answer, or those of some lines."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from loop_ls.features.semantic_tokens.token import Token, TokenType
from loop_ls.features.semantic_tokens.tokens import tokens
from loop_ls.server.documents.position_mapping import PositionMapping
from loop_ls.server.routes.requests import about
from loop_ls.text.json_value import JsonObject
from loop_ls.text.position import Position

if TYPE_CHECKING:
    from loop_ls.server.context import Context


_INDEX = {kind: index for index, kind in enumerate(TokenType)}


def on_full(context: Context, params: JsonObject) -> JsonObject | None:
    asked = about(context, params)
    if asked is None:
        return None
    data = encoded(asked.places, tokens(asked.document))
    return {"resultId": context.token_results.keep(asked.opened.key, data), "data": data}


def on_delta(context: Context, params: JsonObject) -> JsonObject | None:
    asked = about(context, params)
    if asked is None:
        return None
    before = context.token_results.before(asked.opened.key, params.get("previousResultId"))
    data = encoded(asked.places, tokens(asked.document))
    name = context.token_results.keep(asked.opened.key, data)
    if before is None:
        return {"resultId": name, "data": data}
    return {"resultId": name, "edits": difference(before, data)}


def on_range(context: Context, params: JsonObject) -> JsonObject | None:
    asked = about(context, params)
    if asked is None:
        return None
    return {"data": encoded(asked.places, tokens(asked.document, asked.range(params)))}


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


def difference(before: list[int], after: list[int]) -> list[JsonObject]:
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
