"""Thoughts that some models write into their answers, between `<think>` and `</think>`: they decide nothing."""

from __future__ import annotations

import re

#: Some models begin to think without saying so, and only say where they end.
_THOUGHTS = re.compile(r"(?:\A|<think(?:ing)?>)(?:(?!</?think(?:ing)?>).)*</think(?:ing)?>", re.DOTALL | re.IGNORECASE)


def without_thoughts(answer: str) -> str:
    return _THOUGHTS.sub(" ", answer)
