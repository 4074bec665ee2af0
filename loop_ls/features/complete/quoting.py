"""Texts as YAML wants them at a place: plain where that is safe, else quoted; snippets escaped."""

from __future__ import annotations

import re

from loop_ls.features.spot.place import Spot

_PLAIN = re.compile(r"[^\s\-?:,\[\]{}#&*!|>'\"%@`~=<][^\n]*")
_NOT_A_TEXT = re.compile(
    r"(?i:true|false|null|yes|no|on|off)|[-+]?(?:\.?\d[\d_]*(?:\.\d*)?(?:e[-+]?\d+)?|0x[\da-f]+|0o[0-7]+|\.inf|\.nan)"
)


def as_text(text: str, spot: Spot, always: bool = False) -> str:
    """`text` as a value at `spot`, which may stand in quotes already. `always`: quoted even where plain would do."""
    if spot.quote == '"':
        return _double(text)
    if spot.quote == "'":
        return text.replace("'", "''")
    if always or not _may_be_plain(text, spot.flow):
        return f'"{_double(text)}"'
    return text


def _double(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _may_be_plain(text: str, flow: bool) -> bool:
    if not _PLAIN.fullmatch(text) or _NOT_A_TEXT.fullmatch(text) or text != text.strip():
        return False
    if ": " in text or " #" in text or text.endswith(":"):
        return False
    return not (flow and any(sign in text for sign in ",[]{}"))


def literal(text: str) -> str:
    """`text` inside a snippet: nothing of it is a tab stop."""
    return text.replace("\\", "\\\\").replace("$", "\\$").replace("}", "\\}")


def stop(number: int, text: str = "") -> str:
    """A tab stop, with `text` in it."""
    return f"${{{number}:{literal(text)}}}" if text else f"${number}"
