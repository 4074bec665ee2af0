"""Small trees to YAML text at a column, with tab stops: what keys and snippets insert.

A tree is a list of `(key, value)`; a value is text, a list of pairs, an `Items` or a `Prose`.
Rendering knows the style of the file and never depends on what the editor does to indentation.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from loop_ls.features.complete.style import Style


@dataclass(frozen=True, slots=True)
class Prose:
    """A block text (`|`)."""

    text: str


@dataclass(frozen=True, slots=True)
class Below:
    """Text on the next line, one level deeper: where a mapping is about to be written."""

    text: str


@dataclass(frozen=True, slots=True)
class Items:
    """A block sequence of mappings."""

    items: tuple[Pairs, ...]


Value = str | Prose | Below | Items | list[tuple[str, "Value"]]
Pairs = list[tuple[str, Value]]

_STOP = re.compile(r"\$(\d)|\$\{(\d):((?:\\.|[^\\}])*)\}")
_ESCAPE = re.compile(r"\\([\\$}])")


def mapping(pairs: Pairs, column: int, style: Style) -> str:
    """The entries, one below the other; the first line is not indented."""
    return ("\n" + " " * column).join(_entry(key, value, column, style) for key, value in pairs)


def item(pairs: Pairs, dash: int, style: Style) -> str:
    """An item of a sequence whose dashes stand at `dash`; its own dash included."""
    return "-" + " " * (style.gap - 1) + mapping(pairs, dash + style.gap, style)


def flow_mapping(pairs: Pairs) -> str:
    """On one line, for flow collections; block texts become quoted ones."""
    return "{" + ", ".join(f"{key}: {_flow(value)}" for key, value in pairs) + "}"


def without_stops(snippet: str) -> str:
    """The plain text of a snippet, for editors that have no tab stops."""
    return _ESCAPE.sub(r"\1", _STOP.sub(lambda m: m[3] or "", snippet))


def _entry(key: str, value: Value, column: int, style: Style) -> str:
    match value:
        case str():
            return f"{key}: {value}" if value else f"{key}:"
        case Prose(text):
            inner = "\n" + " " * (column + style.unit)
            return f"{key}: |{inner}{text.replace(chr(10), inner)}"
        case Below(text):
            return f"{key}:\n" + " " * (column + style.unit) + text
        case Items(items):
            dash = column + style.dash
            return f"{key}:" + "".join("\n" + " " * dash + item(pairs, dash, style) for pairs in items)
        case _:
            inner_column = column + style.unit
            return f"{key}:\n" + " " * inner_column + mapping(value, inner_column, style)


def _flow(value: Value) -> str:
    match value:
        case str():
            return value
        case Prose(text):
            return f'"{text}"'
        case Below(text):
            return "{" + text + "}"
        case Items(items):
            return "[" + ", ".join(flow_mapping(pairs) for pairs in items) + "]"
        case _:
            return flow_mapping(value)
