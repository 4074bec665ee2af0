"""Semantic tokens: all of a file, what changed since the last answer, or those of some lines."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from loop_ls.features.semantic_tokens.tokens import tokens
from loop_ls.server.documents.token_results import encoded
from loop_ls.server.routes.requests import about
from loop_ls.text.json_value import JsonObject

if TYPE_CHECKING:
    from loop_ls.server.context import Context


def on_full(context: Context, params: JsonObject) -> JsonObject | None:
    asked = about(context, params)
    if asked is None:
        return None
    data = context.token_results.encoded(asked.opened.key, asked.document, asked.places)
    return {"resultId": context.token_results.keep(asked.opened.key, data), "data": data}


def on_delta(context: Context, params: JsonObject) -> JsonObject | None:
    asked = about(context, params)
    if asked is None:
        return None
    before = context.token_results.before(asked.opened.key, params.get("previousResultId"))
    data = context.token_results.encoded(asked.opened.key, asked.document, asked.places)
    name = context.token_results.keep(asked.opened.key, data)
    if before is None:
        return {"resultId": name, "data": data}
    return {"resultId": name, "edits": difference(before, data)}


def on_range(context: Context, params: JsonObject) -> JsonObject | None:
    asked = about(context, params)
    if asked is None:
        return None
    return {"data": encoded(asked.places, tokens(asked.document, asked.range(params)))}


def difference(before: list[int], after: list[int]) -> list[JsonObject]:
    """One edit of whole tokens: what is typed changes one stretch."""
    most = min(len(before), len(after))
    head = _alike(most, lambda start, end: before[start:end] == after[start:end])
    old, new = len(before), len(after)
    tail = _alike(most - head, lambda start, end: before[old - end : old - start] == after[new - end : new - start])
    if len(before) == len(after) == head:
        return []
    return [{"start": head, "deleteCount": len(before) - head - tail, "data": after[head : len(after) - tail]}]


def _alike(most: int, same: Callable[[int, int], bool]) -> int:
    """How many numbers are the same from one end on, in whole tokens: in long stretches first, then in shorter ones."""
    found, step = 0, 5 * 4096
    while step:
        while found + step <= most and same(found, found + step):
            found += step
        step = step // 2 // 5 * 5
    return found
