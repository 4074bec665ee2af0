"""Tallies of trials, and what follows from them: try on, refuse, accept, converged.

Pure. Conclusions about a text are drawn at the ends of rotations over its cases: there the mean rate is that of all
cases, whichever of them are hard.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from loop_ls.engine.enhance.evidence.statistics import e_value, probability_higher, within_reach
from loop_ls.formats.settings.enhance import Knobs

#: `more` trials; `proven`: the rate is high enough; `settled`: it will not be.
Progress = Literal["more", "proven", "settled"]
#: What speaks against a candidate.
Against = Literal["screen", "probability", "regression", "cost"]

#: An e-value at which no more trials are made: the text is not good enough.
_FUTILE = 1 / 3
#: A case that passed as often, and one that passes as rarely, with so many trials of each.
_GOOD, _BAD, _COMPARED = 2 / 3, 1 / 3, 3
#: How many times as much as the best text a candidate may cost.
_DEARER = 2.0
#: The part of trials on held-out cases that has to pass.
_HELD_RATE = 0.75


@dataclass(frozen=True, slots=True)
class Tally:
    """The trials of one text that count, by case, in order. `usd` is what the passed ones cost: one that fails early
    is cheap for the wrong reason."""

    results: Mapping[str, tuple[bool, ...]] = field(default_factory=dict)
    usd: float = 0.0

    def with_trial(self, case: str, passed: bool, usd: float = 0.0) -> Tally:
        return Tally({**self.results, case: (*self.results.get(case, ()), passed)}, self.usd + (usd if passed else 0.0))

    @property
    def passes(self) -> int:
        return sum(map(sum, self.results.values()))

    @property
    def trials(self) -> int:
        return sum(map(len, self.results.values()))

    @property
    def rate(self) -> float:
        return self.passes / self.trials if self.trials else 0.0

    @property
    def counts(self) -> tuple[int, int]:
        return self.passes, self.trials

    @property
    def clean(self) -> int:
        """How many cases passed each time."""
        return sum(all(each) for each in self.results.values())

    def rate_of(self, case: str) -> float:
        found = self.results.get(case, ())
        return sum(found) / len(found) if found else 0.0

    def e(self, knobs: Knobs) -> float:
        return e_value(self.passes, self.trials - self.passes, knobs.min_pass_rate)


def wanted_e(knobs: Knobs) -> float:
    """The e-value that shows what the settings ask for."""
    return 1 / (1 - knobs.confidence)


def in_order(cases: Sequence[str], best: Tally | None) -> tuple[str, ...]:
    """The cases as a text is tried on them: first those that the best one so far fails."""
    return tuple(cases) if best is None else tuple(sorted(cases, key=best.rate_of))


def progress(tally: Tally, cases: int, knobs: Knobs) -> Progress:
    """What the trials of a text over so many cases come to."""
    trials, wanted = tally.trials, wanted_e(knobs)
    rotation_ended = trials % cases == 0
    if rotation_ended and trials >= cases * knobs.confirm_runs:
        e = tally.e(knobs)
        if e >= wanted - 1e-9:
            return "proven"
        if e <= _FUTILE + 1e-9 or not within_reach(e, knobs.max_trials_per_text - trials, knobs.min_pass_rate, wanted):
            return "settled"
    return "settled" if trials >= knobs.max_trials_per_text else "more"


def screened(new: Tally, best: Tally, cases: int, knobs: Knobs) -> bool:
    """Whether the first few trials of a candidate are no better than the best text."""
    return new.trials == min(knobs.minibatch, cases) and new.rate <= best.rate


def against(new: Tally, best: Tally, knobs: Knobs) -> tuple[Against, str | None] | None:
    """Why a candidate is not taken, and the case that speaks against it; None: it is. A tie is no gain."""
    if new.rate <= best.rate or probability_higher(new.counts, best.counts) < knobs.accept_probability:
        return "probability", None
    for case, before in best.results.items():
        enough = len(before) >= _COMPARED and len(new.results.get(case, ())) >= _COMPARED
        if enough and best.rate_of(case) >= _GOOD and new.rate_of(case) <= _BAD:
            return "regression", case
    if best.usd > 0 and new.usd / new.passes > _DEARER * best.usd / best.passes:
        return "cost", None
    return None


def every_case_passes(tally: Tally) -> bool:
    """Whether no case fails behind a good total."""
    return all(tally.rate_of(case) >= _GOOD for case, found in tally.results.items() if len(found) > 1)


def held_out_passes(passed: int, of: int) -> bool:
    return passed >= _HELD_RATE * of
