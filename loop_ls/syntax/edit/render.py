"""Texts as YAML scalars: plain where that reads back as the same text, else in quotes."""

from __future__ import annotations

import re

from loop_ls.syntax.nodes import Entry, Mapping, Node, Scalar, Sequence, Style
from loop_ls.syntax.yaml.compose import compose
from loop_ls.syntax.yaml.refusal import Rejected
from loop_ls.text.pattern import pattern

_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r", "\0": "\\0"}
_UNPRINTABLE = pattern(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff\"\\]")
_NO_LINE = pattern(r"[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff]")
#: plain texts that other readers take for a number, a truth value or nothing
_NO_TEXT = pattern(
    r"~|<<|=|null|true|false|yes|no|on|off|y|n|[-+]?(?:\.inf|(?:0[xob])?[\d_]+(?:[.:][\d_:]*)?(?:e[-+]?\d+)?)|\.nan|\d{4}-\d.*",
    re.IGNORECASE,
)


def scalar_text(text: str, flow: bool = False) -> str:
    """`text` as a scalar that reads back as this text and as text."""
    if text and not _NO_TEXT.fullmatch(text) and not _NO_LINE.search(text) and _reads_back(text, text, flow):
        return text
    return in_quotes(text, Style.DOUBLE)


def in_quotes(text: str, style: Style) -> str:
    """`text` in single quotes if these are wanted and can hold it, else in double quotes."""
    if style is Style.SINGLE and not _NO_LINE.search(text):
        return "'" + text.replace("'", "''") + "'"
    return '"' + _UNPRINTABLE.sub(lambda found: _escape(found[0]), text) + '"'


def block_text(text: str, style: Style, margin: int, header: str) -> str | None:
    """`text` as a block text with this header; None where a block cannot hold it."""
    body = text.rstrip("\n")
    if not body or _NO_LINE.search(body.replace("\n", "")):
        return None
    rows = body.split("\n")
    if style is Style.FOLDED:
        rows = [row for part in rows for row in (part, "")][:-1]
    written = header + "\n" + "\n".join(" " * margin + row if row else "" for row in rows)
    keeps = _value("k: " + written + "\n" * max(1, len(text) - len(body)))
    return written if keeps is not None and keeps.rstrip("\n") == body else None


def _escape(sign: str) -> str:
    point = ord(sign)
    return _ESCAPES.get(sign) or (f"\\x{point:02x}" if point < 0x100 else f"\\u{point:04x}")


def _reads_back(written: str, text: str, flow: bool) -> bool:
    return _value(f"k: [{written}]" if flow else f"k: {written}") == text


def _value(document: str) -> str | None:
    """The only text in a document of one entry."""
    try:
        node = compose(document.split("\n")).node
    except Rejected:
        return None
    match node:
        case Mapping(entries=(Entry(value=value),)):
            return _text(value)
        case _:
            return None


def _text(node: Node | None) -> str | None:
    match node:
        case Sequence(items=(Scalar() as item,)):
            return item.text
        case Scalar():
            return node.text
        case _:
            return None
