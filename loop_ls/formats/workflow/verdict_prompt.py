"""Verdicts in words: prompts that ask for PASS or FAIL, and answers that begin with one of them.

One reading for everything that looks at checks inside a workflow: enhance loops, declared verifiers, rules.
"""

from __future__ import annotations

import re
from typing import Literal

_PASS = re.compile(r"(?<![\w{.])PASS(?:ED)?(?![\w}])")
_FAIL = re.compile(r"(?<![\w{.])FAIL(?:ED)?(?![\w}])")
_SAID = re.compile(r"\W*(?:(?P<fail>fail(?:ed|s)?)|pass(?:ed|es)?)\b", re.IGNORECASE)
#: The same of an answer that says PASS, for whoever looks for a pattern.
SAYS_PASS = r"(?i)^\W*pass(?:ed|es)?\b"


def asks_for_verdict(prompt: str) -> bool:
    """Whether a prompt asks for PASS or FAIL, both in capitals."""
    return _PASS.search(prompt) is not None and _FAIL.search(prompt) is not None


def verdict_in(answer: str) -> Literal["pass", "fail"] | None:
    """What an answer begins with; None: with neither."""
    found = _SAID.match(answer)
    if found is None:
        return None
    return "fail" if found["fail"] else "pass"
