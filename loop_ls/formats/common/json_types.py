"""What a value is in the formats that take JSON's types: role loops and assistants.

Unlike a workflow, these want texts to be texts and numbers to be numbers, however a file spells
them. Where a text with placeholders stands for something else, its meaning is that of the default.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from loop_ls.formats.common import scalars
from loop_ls.formats.common.key_table import Key, Type
from loop_ls.formats.common.plain_value import plain_scalar
from loop_ls.syntax.nodes import Mapping, Node, Scalar, Sequence, resolved
from loop_ls.text.pattern import pattern

Kind = Literal["text", "number", "true or false", "null", "list", "object"]

#: Words that people write for a truth value, and how JSON writes it.
_TRUTHS = {**dict.fromkeys(("true", "yes", "on"), "true"), **dict.fromkeys(("false", "no", "off"), "false")}
_WHOLE = pattern(r"[-+]?\d+|0o[0-7]+|0x[0-9a-fA-F]+", re.ASCII)
_NUMERIC = pattern(r"\s*[-+]?\d+\s*", re.ASCII)

#: What a value has to be, in words for people who read JSON.
WORDS = {
    Type.TEXT: "a string",
    Type.INTEGER: "an integer",
    Type.NUMBER: "a number",
    Type.BOOLEAN: "true or false",
    Type.TEXTS: "a list of strings",
    Type.BLOCK: "an object",
    Type.BLOCKS: "a list of objects",
    Type.ARGUMENTS: "an object",
}


class Wrong(NamedTuple):
    """A value that is none that its key takes. `node` is what to mark, `expected` the end of a sentence."""

    node: Node
    expected: str


def kind_of(node: Node | None) -> Kind:
    """The JSON type of a value; nothing at all counts as null."""
    match resolved(node):
        case Scalar() as scalar:
            return _kind_of_scalar(scalar)
        case Mapping():
            return "object"
        case Sequence():
            return "list"
        case None:
            return "null"


def _kind_of_scalar(scalar: Scalar) -> Kind:
    value = plain_scalar(scalar)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    return "text" if isinstance(value, str) else "number"


def text_of(node: Node | None) -> str | None:
    """The text of a value that is one."""
    found = resolved(node)
    return found.text if isinstance(found, Scalar) and kind_of(found) == "text" else None


def texts_of(node: Node | None) -> tuple[str, ...] | None:
    """The texts of a list; None: it is none."""
    found = resolved(node)
    if not isinstance(found, Sequence):
        return None
    return tuple(text for item in found.items if (text := text_of(item)) is not None)


def is_blank(node: Node | None) -> bool:
    """Whether there is nothing but white space, or nothing at all."""
    kind = kind_of(node)
    return kind == "null" or (kind == "text" and not (text_of(node) or "").strip())


def whole(node: Node | None) -> int | None:
    """A number written as a whole one: `5`, not `5.0`, `1e3`, `true` or a text."""
    found = resolved(node)
    if not isinstance(found, Scalar) or not scalars.is_plain(found) or not _WHOLE.fullmatch(found.text):
        return None
    return int(found.text, 0) if found.text[:2] in ("0x", "0o") else int(found.text[:20])


def numeric_text(text: str) -> int | None:
    """The whole number that a text spells."""
    return int(text[:20]) if _NUMERIC.fullmatch(text) else None


def number(node: Node | None) -> float | None:
    found = resolved(node)
    if not isinstance(found, Scalar) or kind_of(found) != "number":
        return None
    return scalars.floating(found.text)


def flag(node: Node | None) -> bool | None:
    found = resolved(node)
    if not isinstance(found, Scalar) or kind_of(found) != "true or false":
        return None
    return scalars.boolean(found.text)


def wrong_type(key: Key, node: Node | None) -> Wrong | None:
    """What is wrong with the type of a value that is written; choices and ranges are not looked at."""
    if node is None:
        return None
    match key.type:
        case Type.TEXTS | Type.BLOCKS:
            return _wrong_list(key, node)
        case Type.TEXT:
            fits = kind_of(node) == "text"
        case Type.INTEGER:
            fits = whole(node) is not None
        case Type.NUMBER:
            fits = kind_of(node) == "number"
        case Type.BOOLEAN:
            fits = kind_of(node) == "true or false"
        case Type.BLOCK | Type.ARGUMENTS:
            fits = kind_of(node) == "object"
        case _:
            fits = True
    return None if fits else Wrong(node, WORDS[key.type])


def _wrong_list(key: Key, node: Node) -> Wrong | None:
    found = resolved(node)
    if not isinstance(found, Sequence):
        return Wrong(node, WORDS[key.type])
    kind, expected = ("text", "a text") if key.type is Type.TEXTS else ("object", "an object")
    for item in found.items:
        if kind_of(item) != kind:
            return Wrong(node if item is None else item, expected)
    return None


def out_of_range(key: Key, value: float) -> str | None:
    """Why a number is none that the key takes; the end of a sentence."""
    low, high = key.minimum, key.maximum
    if low is not None and high is not None and not low <= value <= high:
        return f"from {low:g} to {high:g}"
    if low is not None and value < low:
        return f"at least {low:g}"
    return f"at most {high:g}" if high is not None and value > high else None


def unquoted(key: Key, node: Node | None) -> str | None:
    """What a text would be without its quotes, or as JSON writes it, where the key takes that."""
    text = text_of(node)
    if text is None:
        return None
    if key.type is Type.BOOLEAN:
        return _TRUTHS.get(text.lower())
    return text if key.type is Type.INTEGER and _WHOLE.fullmatch(text) else None
