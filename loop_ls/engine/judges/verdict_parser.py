"""Reading a judge's answer: the first word counts, and nothing else (D08)."""

from __future__ import annotations

import re
from typing import Literal

Verdict = Literal["yes", "no", "unclear"]

#: Blanks, quotes, `*`, back-ticks, `#`, underscores and other marks in front, then the first word.
_FIRST_WORD = re.compile(r"[\W_]*([^\W_]+)")


def read_verdict(answer: str) -> Verdict:
    """`yes`, `no`, or `unclear` when the first word is neither."""
    found = _FIRST_WORD.match(answer)
    match found[1].lower() if found else "":
        case "yes":
            return "yes"
        case "no":
            return "no"
        case _:
            return "unclear"
