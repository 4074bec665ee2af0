"""The `if` of a step: parsed first, values put in afterwards (workflow spec 4.4).

So a result that contains `==` or quotes cannot change what a condition means. There are a truthy
test and one comparison; every other text is judged by the truthy rule.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from loop_ls.engine.interpolation import NAME, Rendered, interpolate
from loop_ls.engine.scope import Scope

_LITERAL = r"(?:'(?P<single>[^']*)'|\"(?P<double>[^\"]*)\"|(?P<bare>[^\s'\"&|()=!<>]+))"
_INSIDE = re.compile(rf"\$\{{\{{\s*(?P<name>{NAME})\s*(?:(?P<sign>==|!=)\s*{_LITERAL}\s*)?\}}\}}")
_OUTSIDE = re.compile(rf"\{{\{{\s*(?P<name>{NAME})\s*\}}\}}\s*(?P<sign>==|!=)\s*{_LITERAL}")


@dataclass(frozen=True, slots=True)
class Truthy:
    """The text, with its values in place, is neither empty nor `false` nor `0`."""

    text: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """The value of a name equals (or does not equal) a text."""

    name: str
    equal: bool
    text: str


Condition = Truthy | Comparison


@dataclass(frozen=True, slots=True)
class Held:
    """Whether a condition holds; `unknown` names made it false."""

    holds: bool
    unknown: tuple[str, ...] = ()


def parse_condition(text: str) -> Condition:
    """The meaning of an `if` as written, before any value is known."""
    text = text.strip()
    found = _INSIDE.fullmatch(text) or _OUTSIDE.fullmatch(text)
    if found is None:
        return Truthy(text)
    if found["sign"] is None:  # `${{ x }}`: the dollar sign is habit, not text
        return Truthy("{{" + found["name"] + "}}")
    literal = next(part for part in (found["single"], found["double"], found["bare"]) if part is not None)
    return Comparison(found["name"], found["sign"] == "==", literal)


def evaluate(condition: Condition, scope: Scope) -> Held:
    """Judge a condition where these names hold; an unknown one makes it false."""
    match condition:
        case Truthy(text):
            rendered = interpolate(text, scope)
            return Held(not rendered.unknown and is_truthy(rendered.text), rendered.unknown)
        case Comparison(name, equal, text):
            left, right = _operand(name, scope), interpolate(text, scope)
            unknown = left.unknown + right.unknown
            return Held(not unknown and (_plain(left.text) == _plain(right.text)) == equal, unknown)


def is_truthy(text: str) -> bool:
    """False for nothing, `false` and `0`, blanks around them and capitals aside."""
    return _plain(text) not in ("", "false", "0")


def _operand(name: str, scope: Scope) -> Rendered:
    value = scope.get(name)
    if value is None and name.endswith(".result"):
        value = scope.get(name.removesuffix(".result"))
    return Rendered("", (name,)) if value is None else Rendered(value)


def _plain(text: str) -> str:
    return text.strip().casefold()
