"""Verdicts in words: prompts that ask for PASS or FAIL, and answers that begin with one of them.

One reading for everything that looks at checks inside a workflow: enhance loops, declared verifiers, rules.
"""

from __future__ import annotations

import re
from typing import Literal

_PASS = re.compile(r"(?<![\w{.])PASS(?:ED)?(?![\w}])")
_FAIL = re.compile(r"(?<![\w{.])FAIL(?:ED)?(?![\w}])")
#: A prompt that is repeated in the answer, `PASS or FAIL: FAIL`, and a form with both: `~~PASS~~ FAIL`.
_CHOICE = r"pass(?:[\W_]*?(?:or|vs\.?|/|\|)[\W_]*fail|[\W_]*(?-i:FAIL))(?![^\W_])"
#: An empty box of a form, or a word that is struck out: `[ ] PASS [x] FAIL`. A list of verdicts that differ is none.
_OPEN = (
    r"(?:[\W_]*?(?:\[[ \t]*\]|[\u2610\u25a1\u25cb\u2b1c]|~~)"
    r"|[ \t]*[-*+\u2022][ \t]+[\W_]*pass[^\n]*\n(?:[^\n]+\n)*?[ \t]*[-*+\u2022][ \t]+[\W_]*fail(?![^\W_]))"
)
#: A field or heading of that name which says no: `{"pass": false}`, `PASS: 0 of 3`, `PASS - no`, `PASS: not met`.
_NO = r"false|no|none|not|nein|n/a|0(?:\.0+)?|(?:not|nicht|non|pas)[ \t]+[^\W\d_]+"
_DENIED = (
    r"[\"'`*_]*[ \t]*(?:[:=,\u2013\u2014-]+[\"'`*_\s]*"
    rf"(?:{_NO})[\"'`*_.!]*\s*(?:\}}|,\s*\"|\n|$|(?<=0)[ \t]*(?:/|of\b|out\b))"
    r"|[:=]?[ \t]*[\u274c\u2717\u2718\u2716])"
)
#: What makes of it a sentence or heading about passing: `PASS is not possible`, `Pass criteria:`, `PASS?`.
_ABOUT = (
    r"[\"'`*_)\]]*(?:[ \t]*\?|[ \t]+(?:is|was|would|could|should|can|cannot|can't|may|might|if|unless|only|through"
    r"|not|nicht|pas|non|requires?|criteri(?:on|a)|rates?|marks?|thresholds?|conditions?|requirements?|checks?|tests?"
    r"|cases?|counts?|scores?|items?|\d+)(?![^\W_]))"
)
#: The other verdict as well, in the same line or at either end of a later one: `PASS oder FAIL: FAIL`, `Verdict: FAIL`.
_BOTH = (
    r"(?:[^\n]*(?<![^\W_])|(?:[^\n]*\n)+(?:[^\w\n]*|[^\n]*[:=\u2013\u2014-][ \t\"'`*_]*))"
    r"(?-i:FAIL(?:ED)?)(?![^\W_])"
)
#: What stands before a verdict, in mark-up or not: `**Verdict:** FAIL`, `## Result`, `The final answer is PASS`.
_BEFORE = (
    r"[\W_]*(?:(?:(?:my|the|final|overall)[\W_]+){0,3}"
    r"(?:verdict|result|answer|assessment|conclusion|decision|evaluation|outcome|status|judge?ment)"
    rf"[ \t]*(?:(?:is|would be)\b|[^\w \t]|_)[\W_]*)?(?:{_CHOICE}[\W_]*)?"
)
_PASSES = rf"(?!{_CHOICE})pass(?:ed|es)?(?![^\W_])(?!{_DENIED}|{_ABOUT}|{_BOTH})"
_SAID = re.compile(rf"(?!{_OPEN}){_BEFORE}(?:(?P<fail>fail(?:ed|s)?(?![^\W_]))|{_PASSES})", re.IGNORECASE)
#: The same of an answer that says PASS, for whoever looks for a pattern.
SAYS_PASS = rf"(?i)^(?!{_OPEN}){_BEFORE}{_PASSES}"


def asks_for_verdict(prompt: str) -> bool:
    """Whether a prompt asks for PASS or FAIL, both in capitals."""
    return _PASS.search(prompt) is not None and _FAIL.search(prompt) is not None


def verdict_in(answer: str) -> Literal["pass", "fail"] | None:
    """What an answer begins with, behind mark-up and words such as `Verdict:`; None: with neither, with both, as in a
    form of which one is marked, or with a sentence about passing (`PASS is not possible`)."""
    found = _SAID.match(answer)
    if found is None:
        return None
    return "fail" if found["fail"] else "pass"
