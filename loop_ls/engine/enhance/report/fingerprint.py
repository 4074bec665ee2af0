"""Whether two rounds fail in the same way: a hash of what failed, without anything that varies by itself.

Outputs, costs, times, ids and a judge's prose are left out on purpose: they differ every time, and a
fingerprint that held them would never repeat. So is the wording of a criterion: a plan that only says `until`
in other words has not come any further.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from hashlib import sha256

from loop_ls.engine.enhance.report.failures import FailedStep, independent

_LONGEST = 200
#: Where systems put what lives for a moment only.
_TEMPORARY = r"(?:/(?:private/)?(?:tmp|var/folders|var/tmp)|[a-z]:\\(?:users\\[^\\\s]+\\appdata\\local\\)?temp)"
#: In this order: a UUID holds hex runs, a timestamp holds digits.
_PLACEHOLDERS = (
    (re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"), "<uuid>"),
    (re.compile(r"\b\d{4}-\d\d-\d\d(?:[t ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:z|[+-]\d\d:?\d\d)?)?"), "<time>"),
    (re.compile(r"\b\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?\b"), "<time>"),
    (re.compile(r"(?<=[^\s?]{3})\?[^\s\"'<>]+"), "?<query>"),
    (re.compile(_TEMPORARY + r"[^\s\"':,]*"), "<temp>"),
    (re.compile(r"\b(?:0x)?(?=[0-9a-f]*\d)[0-9a-f]{8,}\b"), "<hex>"),
    (re.compile(r"\d+"), "<n>"),
)  # fmt: skip


def fingerprint(failures: Iterable[FailedStep]) -> str | None:
    """64 hex digits; None where nothing failed that counts."""
    counting = independent(failures)
    if not counting:
        return None
    tuples = sorted({tuple(map(str, _identity(one))) for one in counting})
    written = json.dumps(tuples, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return sha256(written.encode()).hexdigest()


def _identity(one: FailedStep) -> tuple[object, ...]:
    error = one.error or {}
    return (
        one.step,
        one.kind,
        error.get("code", ""),
        normalised(str(error.get("message", ""))),
        one.verifier.verdict,
        one.iterations["exit_reason"] if one.iterations else "",
    )


def normalised(message: str) -> str:
    """A message without what differs from time to time."""
    text = message.lower()
    for pattern, placeholder in _PLACEHOLDERS:
        text = pattern.sub(placeholder, text)
    return " ".join(text.split())[:_LONGEST]
