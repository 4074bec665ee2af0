"""The arithmetic of evidence: an e-value, the probability that one rate is higher than another, a lower bound.

A text whose mean rate is at most `p0` reaches an e-value of `1 / alpha` with a probability of at most `alpha`, however
often one looks (Ville's inequality): so a loop may go on until it is convinced. Pure and exact, no sampling.
"""

from __future__ import annotations

from math import comb, exp, lgamma

#: What a failed trial takes of an e-value, and what is bet on a pass follows from it.
_FAIL = 1 / 3


def e_value(passes: int, fails: int, p0: float) -> float:
    """What the trials of a text say against a rate of at most `p0`: the wealth of a fair bet on it."""
    return float(_pass(p0) ** passes * _FAIL**fails)


def within_reach(e: float, left: int, p0: float, wanted: float) -> bool:
    """Whether an e-value can still be reached by `left` trials that all pass."""
    return bool(e * _pass(p0) ** left >= wanted)


def _pass(p0: float) -> float:
    return (p0 + 2) / (3 * p0)


def probability_higher(new: tuple[int, int], old: tuple[int, int]) -> float:
    """That the rate behind `new` (passes, trials) is above that behind `old`, each Beta(1,1) before the trials."""
    a, b = new[0] + 1, new[1] - new[0] + 1
    c, d = old[0] + 1, old[1] - old[0] + 1
    return min(
        1.0, sum(exp(_log_beta(c + i, d + b) - _log_beta(1 + i, b) - _log_beta(c, d)) / (b + i) for i in range(a))
    )


def _log_beta(a: float, b: float) -> float:
    return lgamma(a) + lgamma(b) - lgamma(a + b)


def lower_bound(passes: int, trials: int, confidence: float) -> float:
    """The rate that so many passes show at this confidence: exact, one-sided (Clopper-Pearson)."""
    if passes == 0:
        return 0.0
    low, high = 0.0, 1.0
    for _ in range(50):
        middle = (low + high) / 2
        if _at_least(passes, trials, middle) < 1 - confidence:
            low = middle
        else:
            high = middle
    return low


def _at_least(passes: int, trials: int, rate: float) -> float:
    return sum(comb(trials, k) * rate**k * (1 - rate) ** (trials - k) for k in range(passes, trials + 1))
