"""The recorded share of mutants that live at most, by part of the product. It only goes down.

A draw is a sample. What is kept of one is the highest share that would still explain it, and a later draw has to be
far above that before it counts as worse: a run of two minutes tries few mutants and must not fail by bad luck.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import comb
from pathlib import Path

RECORD = Path(__file__).with_name("record.json")
#: A draw is called worse than the record where chance would bring as many survivors in fewer than so many draws.
CHANCE = 0.001
#: A draw shows a share where chance would bring as few survivors in no more than so many draws.
DOUBT = 0.05
#: So many mutants have to be tried before a better share is kept.
ENOUGH = 60


def recorded() -> dict[str, float]:
    """Per cent of mutants that lived, by folder of the product."""
    found: dict[str, float] = json.loads(RECORD.read_text("utf-8"))
    return found


def is_worse(lived: int, tried: int, share: float) -> bool:
    """Whether more lived than chance explains where `share` per cent of all do."""
    return lived > 0 and 1 - _as_few(lived - 1, tried, share) < CHANCE


def _shown(lived: int, tried: int) -> float:
    """The per cent of all mutants, in tenths, above which a draw like this one is no longer to be expected."""
    return next((tenth / 10 for tenth in range(1000) if _as_few(lived, tried, tenth / 10) <= DOUBT), 100.0)


def _as_few(lived: int, tried: int, share: float) -> float:
    """How often no more than so many live where `share` per cent of all do."""
    p = share / 100
    return sum(comb(tried, number) * p**number * (1 - p) ** (tried - number) for number in range(lived + 1))


def lowered(record: Mapping[str, float], lived: Mapping[str, int], tried: Mapping[str, int]) -> dict[str, float]:
    """The record with every share that enough mutants show to be lower, or show for the first time."""
    better = {part: _shown(lived[part], tried[part]) for part in tried if tried[part] >= ENOUGH}
    return {**record, **{part: min(share, record.get(part, 100.0)) for part, share in better.items()}}
