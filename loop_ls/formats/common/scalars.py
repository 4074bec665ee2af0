"""What a written scalar means where a number, a boolean or nothing is expected.

YAML's core schema on the written text, never the types of a YAML library: those would turn `on`,
`1:30` and dates into other things. Where text is expected the written text counts, whatever it is.
"""

from __future__ import annotations

import re
from functools import lru_cache

from loop_ls.syntax.nodes import Scalar, Style
from loop_ls.text.pattern import pattern

_INTEGER = pattern(r"[-+]?\d[\d_]{0,17}", re.ASCII)
_OTHER_BASE = pattern(r"([-+]?)0(?:x[\da-fA-F]{1,15}|o[0-7]{1,20}|b[01]{1,62})", re.ASCII)
_FLOAT = pattern(r"[-+]?(?:\.\d+|\d[\d_]*(?:\.\d*)?)(?:[eE][-+]?\d{1,4})?", re.ASCII)
_INFINITY = pattern(r"[-+]?\.(?:inf|Inf|INF)")
#: What stands for nothing where it is plain.
NULL = frozenset(("", "~", "null", "Null", "NULL"))
_TRUE = frozenset(("true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON", "y", "Y"))
_FALSE = frozenset(("false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF", "n", "N"))


def is_null(scalar: Scalar) -> bool:
    """Whether nothing is written, or one of YAML's words for nothing."""
    return scalar.text in NULL and is_plain(scalar)


def is_plain(scalar: Scalar) -> bool:
    """Whether the text may stand for something other than text: no quotes, no block, no `!!str`."""
    return scalar.style is Style.PLAIN and not (scalar.tag or "").endswith("str")


def integer(text: str) -> int | None:
    """A whole number. `5.0` is one, `5.7` is not: cutting it off would hide a mistake."""
    if _INTEGER.fullmatch(text):
        return int(text.replace("_", ""))
    if _OTHER_BASE.fullmatch(text):
        return int(text, 0)
    number = floating(text)
    if number is None or number != number or abs(number) > 1e15 or number != int(number):
        return None
    return int(number)


@lru_cache(maxsize=1024)
def floating(text: str) -> float | None:
    """A number with or without a fraction; infinity is one, so that its range can be judged."""
    if _FLOAT.fullmatch(text):
        return float(text.replace("_", ""))
    if _INFINITY.fullmatch(text):
        return float("-inf") if text[0] == "-" else float("inf")
    if _OTHER_BASE.fullmatch(text):
        return float(int(text, 0))
    return None


def is_fraction(text: str) -> bool:
    """A number that is not whole."""
    number = floating(text)
    return number is not None and abs(number) < 1e15 and number != int(number)


def boolean(text: str) -> bool | None:
    """`yes`, `no`, `on` and `off` count as well where a boolean is expected; numbers do not."""
    if text in _TRUE:
        return True
    return False if text in _FALSE else None
