"""What a call costs: the price of the settings, else the offline table of genai-prices.

The table is loaded on first use (a tenth of a second), never at start. A price that nobody knows
is None, and is shown as unknown rather than as nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for a million tokens, as written in settings: `price: {input: 3, output: 15}`."""

    input: float
    output: float

    @staticmethod
    def read(value: Any) -> Price | None:
        if not isinstance(value, Mapping):
            return None
        try:
            return Price(float(value.get("input", 0)), float(value.get("output", 0)))
        except (TypeError, ValueError):
            return None

    def usd(self, input_tokens: int, output_tokens: int) -> float:
        return (self.input * input_tokens + self.output * output_tokens) / MILLION


def known_price(table_name: str, model: str) -> Price | None:
    """The price of a model by the table; None where the table does not know it."""
    per_million = _per_million(table_name, model)
    return Price(*per_million) if per_million else None


@lru_cache(maxsize=512)
def _per_million(table_name: str, model: str) -> tuple[float, float] | None:
    from genai_prices import Usage, calc_price

    try:
        found = calc_price(Usage(input_tokens=1000, output_tokens=1000), model, provider_id=table_name)
    except LookupError:
        return None
    if found.input_price is None or found.output_price is None:
        return None
    return float(found.input_price) * 1000, float(found.output_price) * 1000
