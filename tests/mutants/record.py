"""The recorded share of mutants that live, by part of the product. It only goes down."""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import comb
from pathlib import Path

RECORD = Path(__file__).with_name("record.json")
#: A draw is called worse than the record where chance would bring as many survivors in fewer than so many draws.
CHANCE = 0.01
#: So many mutants have to be tried before a better share is kept.
ENOUGH = 60


def recorded() -> dict[str, float]:
    """Per cent of mutants that lived, by folder of the product."""
    found: dict[str, float] = json.loads(RECORD.read_text("utf-8"))
    return found


def is_worse(lived: int, tried: int, share: float) -> bool:
    """Whether more lived than chance explains where `share` per cent of all do."""
    p = share / 100
    fewer = sum(comb(tried, number) * p**number * (1 - p) ** (tried - number) for number in range(lived))
    return lived > 0 and 1 - fewer < CHANCE


def lowered(record: Mapping[str, float], lived: Mapping[str, int], tried: Mapping[str, int]) -> dict[str, float]:
    """The record with every share that was bettered, or is told for the first time, by enough mutants."""
    better = {part: round(100 * lived[part] / tried[part], 1) for part in tried if tried[part] >= ENOUGH}
    return {**record, **{part: min(share, record.get(part, 100.0)) for part, share in better.items()}}
