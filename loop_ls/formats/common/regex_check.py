"""User-written patterns: compiled, searched with a limit of time, and looked over for repeated repetitions.

Nothing here lets a pattern take longer than it was given: searching is done by `regex`, which can be
interrupted; Python's own engine only compiles.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from importlib import import_module
from typing import Any, NamedTuple

from loop_ls.formats.common.regex_dialect import translated

#: Seconds that a search may take while a file is checked.
CHECK_LIMIT = 0.05
#: A pattern of more parts is none that anybody wrote on purpose.
WRITTEN_OUT = 100_000
#: Longer patterns are not looked over.
_LONGEST = 5000
#: Repeated at least so often, a repetition counts as unbounded.
_MANY = 10


class Compiled(NamedTuple):
    """`source` is the pattern in Python's spelling; None where there is none, and `problem` says why."""

    source: str | None
    problem: str = ""


@lru_cache(maxsize=256)
def compiled(pattern: str) -> Compiled:
    """The pattern for Python, in JavaScript's spellings if need be."""
    problem = _problem(pattern)
    if problem is None:
        return Compiled(pattern)
    other = translated(pattern)
    if other != pattern and _problem(other) is None:
        return Compiled(other)
    return Compiled(None, problem)


def _problem(pattern: str) -> str | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            re.compile(pattern, re.IGNORECASE)
        if _written_out(_tree(pattern)) > WRITTEN_OUT:
            return f"its repetitions expand to more than {WRITTEN_OUT:,} parts"
    except re.error as error:
        return str(error)
    except (RecursionError, OverflowError):
        return "it is nested too deeply"
    return None


def _tree(pattern: str) -> Any:
    parser: Any = import_module("re._parser")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return parser.parse(pattern, re.IGNORECASE)


def _written_out(part: object) -> int:
    """How many single parts a pattern has when each repetition is written as often as it has to match at least:
    that is how `regex` compiles it, which no limit of time ends."""
    part = getattr(part, "data", part)
    if not isinstance(part, (tuple, list)) or (len(part) == 2 and str(part[0]) == "IN"):
        return 1 if isinstance(part, tuple) else 0
    if len(part) == 3 and isinstance(part[0], int) and isinstance(part[1], int):
        return max(1, part[0]) * _written_out(part[2])
    return max(1, sum(map(_written_out, part)))


def found_in(source: str, text: str, limit: float = CHECK_LIMIT, exact_case: bool = False) -> bool | None:
    """Whether a pattern in Python's spelling is found in a text; None where that takes too long."""
    import regex

    try:
        return _for_search(source, exact_case).search(text, timeout=limit) is not None
    except (TimeoutError, regex.error, RecursionError, MemoryError):
        return None


@lru_cache(maxsize=64)
def _for_search(source: str, exact_case: bool) -> Any:
    import regex

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return regex.compile(source, 0 if exact_case else regex.IGNORECASE)


def always_matches(source: str) -> bool:
    """Whether a pattern is found in any text: in the empty one, and in one that nobody thought of."""
    return found_in(source, "") is True and found_in(source, "\ue000") is True


# -- repetitions in repetitions -------------------------------------------------------------------


@lru_cache(maxsize=256)
def is_explosive(source: str) -> bool:
    """Whether a repeated part repeats something that could as well be the next round of the whole part
    (`(a+)+`): on some texts that takes time without end."""
    if len(source) > _LONGEST:
        return False
    try:
        tree = _tree(source)
    except (ImportError, re.error, RecursionError, OverflowError):
        return False
    signs = sorted({*source.lower(), *"az09_ \n-.\ue000"})
    return any(_explodes(node, signs) for node in _nodes(tree))


_Node = tuple[object, Any]


def _nodes(sequence: Iterable[_Node]) -> Iterable[_Node]:
    """Every node below, in any order."""
    waiting = list(sequence)
    while waiting:
        node = waiting.pop()
        yield node
        for inner in _inside(node):
            waiting += inner


def _inside(node: _Node) -> Iterable[Sequence[_Node]]:
    """The bodies of a node."""
    match str(node[0]):
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
            return (node[1][2],)
        case "SUBPATTERN":
            return (node[1][3],)
        case "BRANCH":
            return tuple(node[1][1])
        case "ASSERT" | "ASSERT_NOT":
            return (node[1][1],)
        case "ATOMIC_GROUP":
            return (node[1],)
        case "GROUPREF_EXISTS":
            return tuple(part for part in node[1][1:] if part)
        case _:
            return ()


def _explodes(node: _Node, signs: Iterable[str]) -> bool:
    if str(node[0]) not in ("MAX_REPEAT", "MIN_REPEAT") or node[1][1] < _MANY:
        return False
    return any(_splits(node[1][2], sign) for sign in signs)


def _splits(body: Sequence[_Node], sign: str) -> bool:
    """Whether one of the ways through `body` consists of `sign` alone, as many as one likes."""
    parts = list(body)
    if len(parts) == 1:
        kind = str(parts[0][0])
        if kind == "SUBPATTERN":
            return _splits(parts[0][1][3], sign)
        if kind == "BRANCH":
            return any(_splits(way, sign) for way in parts[0][1][1])
    if not all(_empty(part) or _takes(part, sign) for part in parts):
        return False
    return any(_varies(part, sign) for part in parts)


def _varies(node: _Node, sign: str) -> bool:
    """Whether a node takes one `sign` or several."""
    kind = str(node[0])
    if kind in ("MAX_REPEAT", "MIN_REPEAT"):
        low, high, body = node[1]
        if high > 1 and high != low and _all_take(body, sign):
            return True
        return high > 0 and _splits(body, sign)
    if kind == "SUBPATTERN":
        return _splits(node[1][3], sign)
    return kind == "BRANCH" and any(_splits(way, sign) for way in node[1][1])


def _all_take(body: Sequence[_Node], sign: str) -> bool:
    """Whether a body takes `sign` at least once and nothing else."""
    parts = list(body)
    return all(_empty(part) or _takes(part, sign) for part in parts) and any(_takes(part, sign) for part in parts)


def _takes(node: _Node, sign: str) -> bool:
    """Whether a node can stand for one or more of `sign`."""
    kind, value = str(node[0]), node[1]
    match kind:
        case "LITERAL":
            return chr(value).lower() == sign
        case "NOT_LITERAL":
            return chr(value).lower() != sign
        case "ANY":
            return sign != "\n"
        case "IN":
            return _in_set(value, sign)
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
            return value[1] > 0 and _all_take(value[2], sign)
        case "SUBPATTERN":
            return _all_take(value[3], sign)
        case "ATOMIC_GROUP":
            return _all_take(value, sign)
        case "BRANCH":
            return any(_all_take(way, sign) for way in value[1])
        case _:
            return False


def _empty(node: _Node) -> bool:
    """Whether a node can stand for nothing."""
    kind, value = str(node[0]), node[1]
    match kind:
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
            return value[0] == 0 or all(map(_empty, value[2]))
        case "SUBPATTERN":
            return all(map(_empty, value[3]))
        case "ATOMIC_GROUP":
            return all(map(_empty, value))
        case "BRANCH":
            return any(all(map(_empty, way)) for way in value[1])
        case "ASSERT" | "ASSERT_NOT":
            return True
        case _:
            return False


_CATEGORIES: dict[str, Callable[[str], bool]] = {
    "CATEGORY_DIGIT": str.isdigit,
    "CATEGORY_SPACE": str.isspace,
    "CATEGORY_WORD": lambda sign: sign.isalnum() or sign == "_",
}


def _in_set(parts: Iterable[_Node], sign: str) -> bool:
    negated = False
    found = False
    for kind, value in parts:
        match str(kind):
            case "NEGATE":
                negated = True
            case "LITERAL":
                found = found or chr(value).lower() == sign
            case "RANGE":
                low, high = value
                found = found or low <= ord(sign) <= high or low <= ord(sign.upper()[0]) <= high
            case "CATEGORY":
                found = found or _in_category(str(value), sign)
    return found != negated


def _in_category(name: str, sign: str) -> bool:
    inverse = "_NOT_" in name
    test = _CATEGORIES.get(name.replace("_NOT_", "_"))
    return test is not None and test(sign) != inverse
