"""Reading a judge's answer: the first word counts, and nothing else (D08).

IMPOSSIBLE is a third word where the question offers it, and counts only with the condition quoted: judges that never
looked at the condition say it, too.
"""

from __future__ import annotations

import re
from typing import Literal

Verdict = Literal["yes", "no", "impossible", "unclear"]

#: Blanks, quotes, `*`, back-ticks, `#`, underscores and other marks in front, then the first word.
_FIRST_WORD = re.compile(r"[\W_]*([^\W_]+)")


def read_verdict(answer: str, condition: str | None = None) -> Verdict:
    """`yes`, `no`, or `unclear` when the first word is neither. `condition`: `impossible` is an answer as well, where
    this is quoted behind it."""
    found = _FIRST_WORD.match(answer)
    match found[1].lower() if found else "":
        case "yes":
            return "yes"
        case "no":
            return "no"
        case "impossible" if condition is not None and _words(condition) in _words(answer):
            return "impossible"
        case _:
            return "unclear"


def _words(text: str) -> str:
    """The words alone, so that quotes, marks and line ends between them do not count."""
    return " ".join(re.findall(r"\w+", text.casefold()))
