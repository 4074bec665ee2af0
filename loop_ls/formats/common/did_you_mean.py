"""Near misses: which known word was meant. One idea of nearness for keys, names and references."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache


def distance(one: str, other: str, limit: int) -> int:
    """Edits from `one` to `other` (a swap of neighbours is one edit); `limit + 1` when there are more."""
    if abs(len(one) - len(other)) > limit:
        return limit + 1
    one, other = _without_shared_ends(one, other)
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        earlier, before, row = before, row, [i] + [0] * len(other)
        for j, b in enumerate(other, 1):
            row[j] = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b))
            if i > 1 and j > 1 and a == other[j - 2] and b == one[i - 2]:
                row[j] = min(row[j], earlier[j - 2] + 1)
        if min(row) > limit:
            return limit + 1
    return min(row[-1], limit + 1)


def _without_shared_ends(one: str, other: str) -> tuple[str, str]:
    """What is equal at both ends costs no edit; names in one file are mostly `step_1`, `step_2`, ..."""
    shorter = min(len(one), len(other))
    start = 0
    while start < shorter and one[start] == other[start]:
        start += 1
    end = 0
    while end < shorter - start and one[-1 - end] == other[-1 - end]:
        end += 1
    return one[start : len(one) - end], other[start : len(other) - end]


def plain(word: str) -> str:
    """The word without what people mix up most: case, and `-` for `_`."""
    return word.replace("-", "_").casefold()


_BITS = {chr(code): 1 << (code & 63) for code in range(128)}


@lru_cache(maxsize=1 << 14)
def _traits(word: str) -> tuple[str, int]:
    """Its plain shape, and the set of its letters as bits (several letters may share one)."""
    letters = 0
    for letter in set(word):
        letters |= _BITS.get(letter) or 1 << (ord(letter) & 63)
    return plain(word), letters


def learn(words: Iterable[str]) -> None:
    """Look at words before somebody waits for the nearest of them."""
    for word in words:
        _traits(word)


def nearest(word: str, known: Iterable[str], limit: int | None = None) -> str | None:
    """The known word that `word` was probably meant to be, or None.

    Near is: equal but for case or `-` and `_`; else one edit for words of up to five letters, two
    for longer ones (WF501). Of several the nearest, then the first.
    """
    allowed = limit if limit is not None else (1 if len(word) <= 5 else 2)
    length = len(word)
    shape, letters = _traits(word)
    best, found = allowed + 1, None
    for candidate in known:
        if abs(len(candidate) - length) > allowed or candidate == word:
            continue
        same_shape, others = _traits(candidate)
        if same_shape == shape:
            return candidate
        if best == 1 or abs(len(candidate) - length) >= best:
            continue  # no other word can be nearer
        if (letters ^ others).bit_count() > 2 * allowed:
            continue
        steps = distance(word, candidate, best - 1)
        if steps < best:
            best, found = steps, candidate
    return found
