"""JSON in the outputs of models: the whole text, the parts of it that are JSON, and a field of a value."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator

from loop_ls.engine.journal.serialization import plain
from loop_ls.text.json_value import Json

#: Places in a text at which a JSON value is looked for; a text of nothing but braces must hold up nobody.
MOST_TRIES = 1_000
_OPENING = re.compile(r"[{\[]")


class NoJson(Exception):
    """The message says why, as the end of a sentence about the output."""


def whole_json(text: str) -> Json:
    """Raises `NoJson`."""
    try:
        return _read(text)
    except (ValueError, RecursionError) as error:
        raise NoJson(f"is not valid JSON: {error}") from error


def json_parts(text: str) -> Iterator[Json]:
    """Every object and list in a text that is JSON, outermost ones, from left to right."""
    decoder, at = json.JSONDecoder(parse_constant=_no_constant), 0
    for _ in range(MOST_TRIES):
        found = _OPENING.search(text, at)
        if found is None:
            return
        try:
            value, at = decoder.raw_decode(text, found.start())
        except (ValueError, RecursionError):
            at = found.start() + 1
        else:
            yield plain(value)


def some_json(text: str) -> Json:
    """The whole text as JSON, else the first part that is. Raises `NoJson`."""
    try:
        return whole_json(text)
    except NoJson:
        for part in json_parts(text):
            return part
        raise NoJson("contains no JSON") from None


def at_path(value: Json, path: str) -> Json:
    """The field behind names and numbers joined by dots. Raises `NoJson`."""
    for name in path.split("."):
        if isinstance(value, dict) and name in value:
            value = value[name]
        elif isinstance(value, list) and name.isdecimal() and int(name) < len(value):
            value = value[int(name)]
        else:
            raise NoJson(f"has no field `{path}`")
    return value


def as_number(value: Json) -> float | None:
    """A number, or a text that is one; a truth is none."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        found = float(value)
    except (ValueError, OverflowError):
        return None
    return found if math.isfinite(found) else None


def _read(text: str) -> Json:
    value: Json = plain(json.loads(text, parse_constant=_no_constant))
    return value


def _no_constant(name: str) -> Json:
    raise ValueError(f"{name} is not valid JSON")
