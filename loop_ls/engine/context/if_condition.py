"""Judging the `if` of a step where values are known.

Taken apart before anything is inserted (`formats.workflow.condition`), so that a result that contains `==` or
quotes cannot change what a condition means.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

from loop_ls.engine.context.interpolation import Rendered, interpolate
from loop_ls.engine.context.scope import Scope
from loop_ls.formats.workflow.condition import parse_condition


@dataclass(frozen=True, slots=True)
class ConditionResult:
    """Whether a condition holds; `unknown` names made it false."""

    holds: bool
    unknown: tuple[str, ...] = ()


def condition_holds(text: str, scope: Scope) -> ConditionResult:
    """Judge an `if` as written; an unknown name makes it false, whatever the form."""
    condition = parse_condition(text)
    match condition.kind:
        case "truth":
            value = _value(condition.name, scope)
            return ConditionResult(not value.unknown and is_truthy(value.text), value.unknown)
        case "compare":
            left, right = _value(condition.name, scope), interpolate(condition.value, scope)
            unknown = left.unknown + right.unknown
            same = _plain(left.text) == _plain(right.text)
            return ConditionResult(not unknown and same == (condition.operator == "=="), unknown)
        case "text":
            rendered = interpolate(text, scope)
            return ConditionResult(not rendered.unknown and is_truthy(rendered.text), rendered.unknown)
        case _:
            assert_never(condition.kind)


def is_truthy(text: str) -> bool:
    """False for nothing, `false` and `0`, blanks around them and capitals aside."""
    return _plain(text) not in ("", "false", "0")


def _value(name: str, scope: Scope) -> Rendered:
    value = scope.get(name)
    return Rendered("", (name,)) if value is None else Rendered(value)


def _plain(text: str) -> str:
    return text.strip().casefold()
