"""Whether a loop goes round in circles: outputs in a row that say the same, word for word or nearly so.

Blanks, case and punctuation say nothing; in long texts neither does one word of a hundred.
"""

from __future__ import annotations

import re
from collections import Counter

#: Of all words of two outputs, the part that may differ.
DIFFERENT = 0.01
#: Characters above which two outputs are the same only when they are equal: counting words takes its time.
LARGE = 100_000
_WORD = re.compile(r"\w+")
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


class FixationCounter:
    """Hears of one output after the other; `in_a_row` counts those that were the same at last."""

    def __init__(self) -> None:
        self.in_a_row = 0
        self._last: str | None = None

    def hear(self, output: str) -> int:
        self.in_a_row = self.in_a_row + 1 if self._last is not None and same(self._last, output) else 1
        self._last = output
        return self.in_a_row


class EvidenceCounter:
    """Hears what was wrong after each iteration, None where nothing is known; counts how often it was the same."""

    def __init__(self) -> None:
        self.in_a_row = 0
        self._last: str | None = None

    def hear(self, evidence: str | None) -> int:
        self.in_a_row = 0 if evidence is None else self.in_a_row + 1 if evidence == self._last else 1
        self._last = evidence
        return self.in_a_row


def same(one: str, other: str) -> bool:
    if one == other:
        return True
    if len(one) + len(other) > LARGE or not _alike_in_length(one, other):
        return False
    words, others = (Counter(_WORD.findall(text.lower())) for text in (one, other))
    differ = sum(((words - others) + (others - words)).values())
    return differ <= DIFFERENT * (words.total() + others.total())


def _alike_in_length(one: str, other: str) -> bool:
    """Texts that say the same differ in blanks and marks, not much more."""
    return abs(len(one) - len(other)) <= 40 + 0.05 * max(len(one), len(other))


def worth_saying(in_a_row: int) -> bool:
    """The second, the fourth, the eighth, ...: a warning that comes each time is read no more."""
    return in_a_row >= 2 and in_a_row & (in_a_row - 1) == 0


def normalised(message: str, most: int = 200) -> str:
    """At most `most` characters of a message without what differs from time to time."""
    text = message.lower()
    for pattern, placeholder in _PLACEHOLDERS:
        text = pattern.sub(placeholder, text)
    return " ".join(text.split())[:most]
