"""Whether a loop goes round in circles: outputs in a row that say the same, word for word or nearly so.

Blanks, case and punctuation say nothing; in long texts neither does one word of a hundred.
"""

from __future__ import annotations

import re
from collections import Counter

#: Of all words of two outputs, the part that may differ.
DIFFERENT = 0.01
_WORD = re.compile(r"\w+")


class Sameness:
    """Hears of one output after the other; `in_a_row` counts those that were the same at last."""

    def __init__(self) -> None:
        self.in_a_row = 0
        self._last: Counter[str] | None = None

    def hear(self, output: str) -> int:
        words = Counter(_WORD.findall(output.lower()))
        self.in_a_row = self.in_a_row + 1 if self._last is not None and same(self._last, words) else 1
        self._last = words
        return self.in_a_row


def same(one: Counter[str], other: Counter[str]) -> bool:
    if one == other:
        return True
    differ = sum(((one - other) + (other - one)).values())
    return differ <= DIFFERENT * (one.total() + other.total())


def worth_saying(in_a_row: int) -> bool:
    """The second, the fourth, the eighth, ...: a warning that comes each time is read no more."""
    return in_a_row >= 2 and in_a_row & (in_a_row - 1) == 0
