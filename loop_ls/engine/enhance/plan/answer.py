"""What a planner answered: one JSON object, checked as a whole; its operations are looked at one by one later.

A single fenced block around it is tolerated, anything else is not: prose is no plan.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

Json = Any
RATIONALE_MOST = 2000
_FENCED = re.compile(r"\s*```[a-zA-Z]*[ \t]*\r?\n(?P<body>.*?)\r?\n[ \t]*```\s*", re.DOTALL)
#: More than any setting allows is no plan; trying each of a hundred thousand would hold up everything else.
OPS_MOST = 50
_KEYS = frozenset({"rationale", "ops", "unfixable", "give_up"})


@dataclass(frozen=True, slots=True)
class Proposal:
    """`ops` as they came; `give_up` is the planner's reason to stop, None while it goes on."""

    rationale: str
    ops: tuple[Json, ...]
    unfixable: tuple[dict[str, str], ...] = ()
    give_up: str | None = None


class NoPlan(Exception):
    """The answer cannot be used; the message tells the planner what is wrong with it."""


def read_answer(answer: str) -> Proposal:
    """Raises `NoPlan` with a sentence that a repair request quotes."""
    fenced = _FENCED.fullmatch(answer)
    try:
        value = json.loads(fenced["body"] if fenced else answer)
    except (ValueError, RecursionError) as error:
        raise NoPlan(f"the answer is not one JSON object: {error}") from None
    if not isinstance(value, dict):
        raise NoPlan("the answer is not one JSON object")
    if unknown := sorted(value.keys() - _KEYS):
        raise NoPlan(f"the answer has no field `{unknown[0]}`")
    rationale, ops = value.get("rationale"), value.get("ops")
    if not isinstance(rationale, str) or not 1 <= len(rationale.strip()) <= RATIONALE_MOST:
        raise NoPlan(f"`rationale` is a text of 1 to {RATIONALE_MOST} characters")
    if not isinstance(ops, list):
        raise NoPlan("`ops` is a list of operations")
    if len(ops) > OPS_MOST:
        raise NoPlan(f"`ops` has {len(ops)} entries, and a plan is at most {OPS_MOST}")
    return Proposal(rationale.strip(), tuple(ops), _unfixable(value.get("unfixable")), _give_up(value, ops))


def _unfixable(value: Json) -> tuple[dict[str, str], ...]:
    if value is None:
        return ()
    good = isinstance(value, list) and all(
        isinstance(one, dict) and isinstance(one.get("failure"), str) and isinstance(one.get("reason"), str)
        for one in value
    )
    if not good:
        raise NoPlan("`unfixable` is a list of objects with `failure` and `reason`")
    return tuple({"failure": one["failure"], "reason": one["reason"]} for one in value)


def _give_up(value: dict[str, Json], ops: list[Json]) -> str | None:
    given = value.get("give_up")
    if given is None:
        return None
    if not isinstance(given, dict) or not isinstance(given.get("reason"), str):
        raise NoPlan("`give_up` is an object with `reason`")
    if ops:
        raise NoPlan("`give_up` stands only beside empty `ops`")
    return given["reason"] or "the planner gave up"
