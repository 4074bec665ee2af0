"""Texts as YAML that says the same to every reader of YAML: plain, in double quotes, or as a block."""

from __future__ import annotations

import json
import re

_WORDS = frozenset(("true", "false", "yes", "no", "on", "off", "null", "y", "n"))
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_]*|[A-Za-z][A-Za-z0-9 _.,/-]*[A-Za-z0-9.]")


def quoted(text: str) -> str:
    """Plain where nothing in it means anything to YAML, else in double quotes."""
    if _PLAIN.fullmatch(text) and text.lower() not in _WORDS:
        return text
    written = json.dumps(text, ensure_ascii=False)
    return "".join(letter if letter.isprintable() else f"\\U{_number(letter):08x}" for letter in written)


def _number(letter: str) -> int:
    """Half of a surrogate pair is no character, and no reader of YAML takes it."""
    return 0xFFFD if 0xD800 <= ord(letter) < 0xE000 else ord(letter)


def block(key: str, text: str, indent: int) -> list[str]:
    """A text as a block scalar where one can hold it unchanged."""
    lines = [line.rstrip() for line in text.strip("\n").split("\n")]
    odd = not lines or lines[0][:1] in (" ", "\t", "") or any(not line.isprintable() for line in lines)
    if odd or len(lines) == 1:
        return [f"{key}: {quoted(chr(10).join(lines))}"]
    return [f"{key}: |", *(" " * indent + line if line else "" for line in lines)]
