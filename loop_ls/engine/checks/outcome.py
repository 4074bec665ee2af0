"""The outcome of a declared check, and the score of several.

`error` is neither: nobody could decide (no answer of a judge, an unknown price, a pattern that takes too long).
Whoever counts trials leaves such ones out; a run treats one as failed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from loop_ls.formats.checks.model import Check
from loop_ls.text.json_value import JsonObject, float_field, text_field

Verdict = Literal["pass", "fail", "error"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """`reason` is a sentence about the output, or the tail of what a command said. `score` is from 0 to 1; an error
    has none. `iteration` is set where each iteration of a loop was looked at."""

    check: Check
    verdict: Verdict
    reason: str = ""
    score: float | None = None
    iteration: int | None = None

    @property
    def fails(self) -> bool:
        """Whether it fails what it looked at: one that only warns never does."""
        return self.verdict != "pass" and self.check.severity == "error"

    @property
    def void(self) -> bool:
        """Whether it says nothing about the output."""
        return self.verdict == "error"


def passed(check: Check, reason: str = "") -> Outcome:
    return Outcome(check, "pass", reason, 1.0)


def failed(check: Check, reason: str) -> Outcome:
    return Outcome(check, "fail", reason, 0.0)


def undecided(check: Check, reason: str) -> Outcome:
    return Outcome(check, "error", reason)


def all_pass(outcomes: Iterable[Outcome]) -> bool:
    """Whether nothing fails; one that nobody could decide fails, too."""
    return not any(one.fails for one in outcomes)


def total_score(outcomes: Iterable[Outcome]) -> float | None:
    """The mean of the scores by weight; None: nothing has a score."""
    return mean_by_weight((one.check.weight, one.score) for one in outcomes)


def recorded_score(checked: Iterable[JsonObject]) -> float | None:
    """The same of a run's `checked` facts; of a check in a loop the last iteration counts."""
    last = {(text_field(fact, "on"), text_field(fact, "check")): fact for fact in checked}
    return mean_by_weight((float_field(fact, "weight") or 0.0, float_field(fact, "score")) for fact in last.values())


def mean_by_weight(scores: Iterable[tuple[float, float | None]]) -> float | None:
    """Of weights and scores; None: nothing has a score."""
    scored = [(weight, score) for weight, score in scores if score is not None]
    weights = sum(weight for weight, _ in scored)
    return sum(weight * score for weight, score in scored) / weights if weights else None


def feedback(outcomes: Iterable[Outcome]) -> tuple[str, ...]:
    """What is wrong, one line for each check that did not pass."""
    return tuple(f"{one.check.name}: {one.reason}" for one in outcomes if one.verdict != "pass")
