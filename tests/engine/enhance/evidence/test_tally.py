"""What trials come to: enough of them, better, refused."""

from __future__ import annotations

import pytest

from loop_ls.engine.enhance.evidence.statistics import e_value, lower_bound, probability_higher, within_reach
from loop_ls.engine.enhance.evidence.tally import (
    Tally,
    against,
    every_case_passes,
    held_out_passes,
    in_order,
    progress,
    screened,
)
from loop_ls.formats.settings.enhance import Knobs

KNOBS = Knobs()
CASES = ("a", "b", "c", "d", "e")


def tally(usd: float = 0.0, **results: str) -> Tally:
    """`a="++-"`: case `a` passed twice and failed once."""
    found = Tally(usd=usd)
    for case, marks in results.items():
        for mark in marks:
            found = found.with_trial(case, mark == "+")
    return found


def rotations(*marks: str) -> Tally:
    """Each text is one rotation over five cases."""
    return tally(**{case: "".join(one[place] for one in marks) for place, case in enumerate(CASES)})


@pytest.mark.parametrize(
    ("p0", "passes", "fails"), [(0.7, 10, 0), (0.7, 14, 1), (0.7, 18, 2), (0.7, 23, 3), (0.5, 5, 0), (0.8, 15, 0)]
)
def test_EB_125_so_many_passes_are_evidence_and_one_less_is_not(p0: float, passes: int, fails: int) -> None:
    assert e_value(passes, fails, p0) >= 10
    assert e_value(passes - 1, fails, p0) < 10


def test_EB_125_a_fair_bet_wins_nothing_at_the_rate_that_it_is_against() -> None:
    assert 0.7 * e_value(1, 0, 0.7) + 0.3 * e_value(0, 1, 0.7) == pytest.approx(1)
    assert within_reach(1.0, 10, 0.7, 10)
    assert not within_reach(1.0, 9, 0.7, 10)


@pytest.mark.parametrize(
    ("new", "old", "expected"), [((3, 3), (1, 5), 0.976), ((5, 10), (5, 10), 0.5), ((0, 3), (3, 3), 0.014)]
)
def test_EB_125_the_probability_of_a_higher_rate_is_exact(
    new: tuple[int, int], old: tuple[int, int], expected: float
) -> None:
    assert probability_higher(new, old) == pytest.approx(expected, abs=0.001)
    assert probability_higher(old, new) == pytest.approx(1 - expected, abs=0.001)


def test_EB_125_what_so_many_passes_show_at_least() -> None:
    assert lower_bound(10, 10, 0.9) == pytest.approx(0.794, abs=0.001)
    assert lower_bound(3, 3, 0.9) == pytest.approx(0.464, abs=0.001)
    assert lower_bound(0, 3, 0.9) == 0.0


def test_EB_125_conclusions_are_drawn_at_the_ends_of_rotations() -> None:
    assert progress(tally(a="-", b="-"), 5, KNOBS) == "more"
    assert progress(rotations("++--+"), 5, KNOBS) == "settled"
    assert progress(rotations("+++-+"), 5, KNOBS) == "more"
    assert progress(rotations("+++++", "+++++"), 5, KNOBS) == "proven"
    assert progress(rotations("+++++"), 5, Knobs(min_pass_rate=0.5)) == "proven"
    assert progress(rotations("+++++"), 5, Knobs(min_pass_rate=0.5, confirm_runs=2)) == "more"
    assert progress(rotations("+++++", "++++-"), 5, Knobs(max_trials_per_text=12)) == "settled"


def test_EB_125_a_candidate_that_is_not_better_at_once_is_not_tried_on() -> None:
    best = rotations("+++--")
    assert screened(tally(d="+", e="-", a="-"), best, 5, KNOBS)
    assert not screened(tally(d="+", e="-", a="+"), best, 5, KNOBS)
    assert not screened(tally(d="-", e="-"), best, 5, KNOBS)
    assert in_order(CASES, best) == ("d", "e", "a", "b", "c")


def test_EB_125_what_speaks_against_a_candidate() -> None:
    best = rotations("+++--", "+++--", "+++--")
    assert against(rotations("+++--"), best, KNOBS) == ("probability", None)
    assert against(rotations("+++++", "+++++", "++++-"), best, KNOBS) is None
    lost = rotations("-++++", "-++++", "-++++")
    assert against(lost, rotations("+++--", "+++--", "++---"), KNOBS) == ("regression", "a")
    dear = tally(usd=9.0, **dict.fromkeys(CASES, "+++"))
    cheap = tally(usd=1.0, **dict.fromkeys(CASES, "+--"))
    assert against(dear, cheap, KNOBS) == ("cost", None)


def test_EB_125_a_dead_case_behind_a_good_total_is_seen() -> None:
    assert every_case_passes(tally(a="+++", b="++-", c="-"))
    assert not every_case_passes(tally(a="+++++++", b="+--"))


def test_EB_125_three_quarters_of_the_held_out_trials_have_to_pass() -> None:
    assert held_out_passes(3, 4)
    assert not held_out_passes(2, 4)
