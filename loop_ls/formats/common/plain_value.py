"""Nodes to plain values (text, numbers, booleans, lists, mappings) by YAML's core schema."""

from __future__ import annotations

from typing import Any

from loop_ls.formats.common import scalars
from loop_ls.syntax.nodes import Mapping, Node, Scalar, Sequence, resolved

#: Deeper values are cut off, and so is what aliases blow up beyond this many values.
DEPTH = 64
MOST = 100_000

_BOOLEANS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}


def plain(node: Node | None) -> Any:
    """The value of a node. Of a repeated key the first counts; infinite numbers stay text."""
    return _Reader().value(node, DEPTH)


def plain_scalar(scalar: Scalar) -> str | int | float | bool | None:
    if not scalars.is_plain(scalar):
        return scalar.text
    if scalars.is_null(scalar):
        return None
    text = scalar.text
    if text in _BOOLEANS:
        return _BOOLEANS[text]
    if text.startswith("0x") or not any(sign in text for sign in ".eE"):
        whole = scalars.integer(text)
        return text if whole is None else whole
    number = scalars.floating(text)
    return text if number is None or number in (float("inf"), float("-inf")) else number


class _Reader:
    """Counts what it makes: a few lines of aliases can stand for billions of values."""

    def __init__(self) -> None:
        self.left = MOST

    def value(self, node: Node | None, depth: int) -> Any:
        self.left -= 1
        if self.left < 0:
            return None
        found = resolved(node)
        match found:
            case Scalar():
                return plain_scalar(found)
            case Mapping() if depth:
                mapping: dict[str, Any] = {}
                for entry in found.entries:
                    if entry.key.text not in mapping:
                        mapping[entry.key.text] = self.value(entry.value, depth - 1)
                return mapping
            case Sequence() if depth:
                return [self.value(item, depth - 1) for item in found.items]
            case _:
                return None
