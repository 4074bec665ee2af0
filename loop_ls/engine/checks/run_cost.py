"""What a run has cost, as checks of its `cost` see it."""

from __future__ import annotations

from collections.abc import Iterable

from loop_ls.text.json_value import JsonObject, as_object, float_field, int_field


def known_cost(calls: Iterable[JsonObject]) -> float | None:
    """The sum of `call` facts in dollars; None: the price of one is unknown. An attempt that failed before a token was
    counted costs nothing, whatever its price is."""
    found = [(float_field(call, "usd"), call) for call in calls]
    if any(usd is None and _costs_something(call) for usd, call in found):
        return None
    return sum(usd or 0.0 for usd, _ in found)


def _costs_something(call: JsonObject) -> bool:
    tokens = as_object(call.get("tokens"))
    used = (int_field(tokens, "input") or 0) + (int_field(tokens, "output") or 0)
    return not call.get("error") or used > 0
