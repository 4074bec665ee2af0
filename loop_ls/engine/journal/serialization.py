"""What may enter the journal: JSON that every database and every reader can hold, long texts once.

Values are brought to the form that a reader will see before anybody uses them, so live code and replayed
code see the same. Nothing here refuses a value: it has been paid for.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from typing import TypeVar, cast

from loop_ls.text.hash import hash_of
from loop_ls.text.json_value import JsonObject

#: A JSON value, or one that `plain` makes one of.
Value = TypeVar("Value")
#: Texts at least this long are stored once, by hash, whatever facts and answers repeat them.
LONG = 200
#: A text of this length is not worth a copy, nor the time for one.
BOOK = 1 << 18
#: What lies deeper in lists and objects than this is left out.
DEEPEST = 100
#: The one key of a reference to a text. NUL cannot occur in a key that comes from outside.
REF = "\x00"

#: Made once: `json.dumps` would make an encoder for every value.
_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode
_BROKEN = re.compile("[\x00\ud800-\udfff]")


def plain(value: Value) -> Value:
    """The value as JSON gives it back: text keys, lists, no NUL, no lone surrogate, no NaN."""
    return cast("Value", _repaired(value) if _holds_a_book(value) else json.loads(_text(value)))


def plain_text(text: str) -> str:
    """The text without what no database can hold: each such character becomes U+FFFD."""
    if text.isascii() and "\0" not in text:
        return text
    return _BROKEN.sub("\ufffd", text)


def key_of(name: str) -> bytes:
    """The hash as it is stored; for what is none, one that no text has."""
    try:
        return bytes.fromhex(name)
    except ValueError:
        return b""


def pack(value: object, texts: dict[str, str]) -> str:
    """`value` (already plain) as compact JSON; long texts go to `texts` and leave their hash."""
    return _encode(_packed(value, texts))


def enter(value: Value, texts: dict[str, str]) -> tuple[Value, str]:
    """The plain form of a value, and the same packed."""
    if _holds_a_book(value):
        found = cast("Value", _repaired(value))
        return found, pack(found, texts)
    text = _text(value)
    found = cast("Value", json.loads(text))
    return found, text if len(text) < LONG else pack(found, texts)


def unpack(packed: str, text_of: Callable[[str], str]) -> JsonObject:
    """The object that was packed."""
    value = json.loads(packed)
    return cast("JsonObject", _unpacked(value, text_of) if "\\u0000" in packed else value)


def _holds_a_book(value: object) -> bool:
    """Whether there is a text in it so long that it must not be copied by encoding all of it."""
    return isinstance(value, dict) and any(type(each) is str and len(each) >= BOOK for each in value.values())


def _text(value: object) -> str:
    """JSON that holds nothing which some database could not."""
    try:
        text = _encode(value)
        text.encode("utf-8")
    except (TypeError, ValueError, RecursionError):
        return _encode(_repaired(value))
    if text.count("[") + text.count("{") > DEEPEST and _is_deep(value):
        return _encode(_repaired(value))
    return text if "\\u0000" not in text else _encode(_repaired(json.loads(text)))


def _packed(value: object, texts: dict[str, str]) -> object:
    match value:
        case str() if len(value) >= LONG:
            name = hash_of(value)
            texts[name] = value
            return {REF: name}
        case dict():
            return {key: _packed(item, texts) for key, item in value.items()}
        case list():
            return [_packed(item, texts) for item in value]
        case _:
            return value


def _unpacked(value: object, text_of: Callable[[str], str]) -> object:
    match value:
        case dict() if REF in value:
            return text_of(value[REF])
        case dict():
            return {key: _unpacked(item, text_of) for key, item in value.items()}
        case list():
            return [_unpacked(item, text_of) for item in value]
        case _:
            return value


def _is_deep(value: object) -> bool:
    """Whether lists and objects lie so deep in it that whoever goes through them could not come back."""
    level: list[object] = [value]
    for _ in range(DEEPEST + 1):
        inner = [
            one.values() if isinstance(one, dict) else one for one in level if isinstance(one, dict | list | tuple)
        ]
        level = [item for items in inner for item in items]
        if not level:
            return False
    return any(isinstance(one, dict | list | tuple) for one in level)


def _repaired(value: object, depth: int = 0) -> object:
    if depth > DEEPEST:
        return "..."
    match value:
        case None | bool() | int():
            return value
        case float():
            return value if math.isfinite(value) else None
        case str():
            return plain_text(value)
        case dict():
            return {plain_text(str(key)): _repaired(item, depth + 1) for key, item in value.items()}
        case list() | tuple():
            return [_repaired(item, depth + 1) for item in value]
        case _:
            return plain_text(str(value))
