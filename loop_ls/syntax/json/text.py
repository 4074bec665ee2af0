"""What stands between the quotes of a JSON text, and what JSON does not allow there."""

from __future__ import annotations

import json
import re

from loop_ls.text.pattern import pattern

_ESCAPE = pattern(r"\\(?:u([0-9A-Fa-f]{4})|([\s\S]?))")
_KNOWN = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_CONTROL = pattern(r"[\x00-\x1f]")


def text_of(body: str) -> tuple[str, str | None]:
    """The text, and a half sentence about the first thing in it that JSON does not allow."""
    if "\\" not in body and not _CONTROL.search(body):
        return body, None
    try:
        return json.loads(f'"{body}"'), None
    except ValueError:
        return _ESCAPE.sub(_meaning, body), _problem(body)


def _meaning(found: re.Match[str]) -> str:
    if found[1]:
        return chr(int(found[1], 16))
    return _KNOWN.get(found[2], found[2])


def _problem(body: str) -> str:
    for found in _ESCAPE.finditer(body):
        if not found[1] and found[2] not in _KNOWN:
            return f"invalid escape `{found[0]}`; write `\\\\` for a backslash"
    control = _CONTROL.search(body)
    sign = ord(control[0]) if control else 0
    return "it contains a tab; write `\\t`" if sign == 9 else f"it contains U+{sign:04X}; write `\\u{sign:04x}`"
