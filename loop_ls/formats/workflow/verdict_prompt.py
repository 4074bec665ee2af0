"""Verdicts in words: prompts that ask for PASS or FAIL, and answers that begin with one of them.

One reading for everything that looks at checks inside a workflow: enhance loops, declared verifiers, rules. An answer
is read in steps: what stands before the verdict, the verdict, and for PASS what follows, which may take it back.
"""

from __future__ import annotations

import re
from typing import Literal

_PASS = re.compile(r"(?<![\w{.])PASS(?:ED)?(?![\w}])")
_FAIL = re.compile(r"(?<![\w{.])FAIL(?:ED)?(?![\w}])")

#: An empty box of a form, or a word that is struck out: `[ ] PASS [x] FAIL`.
_EMPTY_BOX = re.compile(r"[\W_]*?(?:\[[ \t]*\]|[\u2610\u25a1\u25cb\u2b1c]|~~)")
#: A list of verdicts that differ.
_LIST = re.compile(
    r"[ \t]*[-*+\u2022][ \t]+[\W_]*pass[^\n]*\n(?:[^\n]+\n)*?[ \t]*[-*+\u2022][ \t]+[\W_]*fail(?![^\W_])", re.IGNORECASE
)

_MARKS = re.compile(r"[\W_]*")
#: What announces a verdict: `**Verdict:** FAIL`, `## Result`, `The final answer is PASS`.
_ANNOUNCED = re.compile(
    r"(?:(?:my|the|final|overall)[\W_]+){0,3}"
    r"(?:verdict|result|answer|assessment|conclusion|decision|evaluation|outcome|status|judge?ment)"
    r"[ \t]*(?:(?:is|would be)\b|[^\w \t]|_)[\W_]*",
    re.IGNORECASE,
)
#: The question once more, `PASS or FAIL: FAIL`, and a form with both.
_CHOICE = re.compile(r"pass(?:[\W_]*?(?:or|vs\.?|/|\|)[\W_]*fail|[\W_]*(?-i:FAIL))(?![^\W_])[\W_]*", re.IGNORECASE)
_VERDICT = re.compile(r"(?:fail(?:ed|s)?|(pass(?:ed|es)?))(?![^\W_])", re.IGNORECASE)

#: The value of a field or heading of that name: `{"pass": false}`, `PASS: 0 of 3`, `PASS - no`.
_VALUE = re.compile(r"[\"'`*_]*[ \t]*[:=,\u2013\u2014-]+[\"'`*_\s]*")
_NO = re.compile(
    r"(?:false|none|not|no?|nein|n/a|0(?:\.0+)?|(?:not|nicht|non|pas)[ \t]+[^\W\d_]+)[\"'`*_.!]*\s*(?:\}|,\s*\"|\n|$)",
    re.IGNORECASE,
)
_SHARE = re.compile(r"(\d+(?:\.\d+)?)[ \t]*(?:/|of\b|out[ \t]+of\b)[ \t]*(\d+(?:\.\d+)?)?", re.IGNORECASE)
_CROSS = re.compile(r"[\"'`*_]*[ \t]*[:=]?[ \t]*[\u274c\u2717\u2718\u2716]")
#: What makes of it a sentence or heading about passing: `PASS is not possible`, `Pass criteria:`, `PASS?`.
_ABOUT = re.compile(
    r"[\"'`*_)\]]*(?:[ \t]*\?|[ \t]+(?:is|was|would|could|should|can|cannot|can't|may|might|if|unless|only|through"
    r"|not|nicht|pas|non|n/a|requires?|criteri(?:on|a)|rates?|marks?|thresholds?|conditions?|requirements?|checks?|tests?"
    r"|cases?|counts?|scores?|items?|\d+)(?![^\W_]))",
    re.IGNORECASE,
)
#: The other verdict as well, anywhere in the same line, or at either end of a later one: `Verdict: FAIL`.
_FAIL_TOO = re.compile(r"(?<![^\W_])FAIL(?:ED)?(?![^\W_])")
_FAIL_LATER = re.compile(r"(?:^[^\w\n]*|[:=\u2013\u2014-][ \t\"'`*_]*)FAIL(?:ED)?(?![^\W_])", re.MULTILINE)


def asks_for_verdict(prompt: str) -> bool:
    """Whether a prompt asks for PASS or FAIL, both in capitals."""
    return _PASS.search(prompt) is not None and _FAIL.search(prompt) is not None


def verdict_in(answer: str) -> Literal["pass", "fail"] | None:
    """What an answer begins with, behind mark-up and words such as `Verdict:`; None: with neither, with both, as in a
    form of which one is marked, or with a sentence about passing (`PASS is not possible`)."""
    if _EMPTY_BOX.match(answer) or _LIST.match(answer):
        return None
    at = 0
    for before in (_MARKS, _ANNOUNCED, _CHOICE):
        found = before.match(answer, at)
        at = at if found is None else found.end()
    verdict = _VERDICT.match(answer, at)
    if verdict is None:
        return None
    if verdict[1] is None:
        return "fail"
    rest = answer[verdict.end() :]
    return None if _denied(rest) or _ABOUT.match(rest) or _fails_too(rest) else "pass"


def _denied(rest: str) -> bool:
    """Whether what follows PASS says no: `PASS: N`, `PASS - not met`, `PASS: 3/10`."""
    if _CROSS.match(rest):
        return True
    value = _VALUE.match(rest)
    if value is None:
        return False
    share = _SHARE.match(rest, value.end())
    if share is not None:
        return float(share[1]) < float(share[2]) if share[2] else float(share[1]) == 0
    return _NO.match(rest, value.end()) is not None


def _fails_too(rest: str) -> bool:
    line, _, later = rest.partition("\n")
    return _FAIL_TOO.search(line) is not None or _FAIL_LATER.search(later) is not None
