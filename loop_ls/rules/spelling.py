"""Which known word somebody meant: the "did you mean" of every rule.

Two swapped neighbours count as one slip, as people type them. What a suggestion is worth is up to
the rule: some only show it, WF501 reports nothing without one.
"""

from __future__ import annotations

from collections.abc import Iterable


def slips(a: str, b: str, limit: int) -> int:
    """How many letters were added, dropped, changed or swapped; `limit + 1` when there are more."""
    if abs(len(a) - len(b)) > limit:
        return limit + 1
    before: list[int] = []
    last = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        row = [i]
        for j, y in enumerate(b, 1):
            cost = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (x != y))
            if i > 1 and j > 1 and x == b[j - 2] and a[i - 2] == y:
                cost = min(cost, before[j - 2] + 1)
            row.append(cost)
        if min(row) > limit:
            return limit + 1
        before, last = last, row
    return min(last[-1], limit + 1)


def same_but_for_style(a: str, b: str) -> bool:
    """Equal but for capitals and `-` against `_`."""
    return plain(a) == plain(b)


def plain(word: str) -> str:
    return word.replace("-", "_").casefold()


def allowed_slips(word: str) -> int:
    """WF501: one slip in names of up to five letters, two in longer ones."""
    return 1 if len(word) <= 5 else 2


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word that was meant, None if none is near enough. Equal distances: the first one."""
    limit = allowed_slips(word)
    best: str | None = None
    best_score = limit + 1
    wanted = plain(word)
    for candidate in known:
        if candidate == word:
            continue
        if plain(candidate) == wanted:
            return candidate
        score = slips(wanted, plain(candidate), limit)
        if score < best_score:
            best, best_score = candidate, score
    return best


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`; did you mean ...?` or nothing: the end of a sentence."""
    best = nearest(word, known)
    return f"; did you mean `{best}`?" if best is not None else ""


def listed(words: Iterable[str], joiner: str = "or") -> str:
    """`a`, `b` or `c`: what would be valid, in the words of the file."""
    quoted = [f"`{word}`" for word in words]
    if len(quoted) < 2:
        return "".join(quoted)
    return f"{', '.join(quoted[:-1])} {joiner} {quoted[-1]}"
