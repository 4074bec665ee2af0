"""When a draw of mutants is worse than what is recorded, and what is kept of a better one."""

from __future__ import annotations

import pytest

from tests.mutants.record import ENOUGH, is_worse, lowered


@pytest.mark.parametrize(
    ("lived", "tried", "share", "worse"),
    [
        (0, 0, 0.0, False),
        (0, 100, 5.0, False),
        (5, 100, 5.0, False),
        (9, 100, 5.0, False),
        (12, 100, 5.0, False),
        (14, 100, 5.0, True),
        (1, 1, 5.0, False),
        (2, 2, 5.0, False),
        (3, 3, 5.0, True),
        (1, 60, 0.0, True),
    ],
)
def test_a_draw_is_worse_where_chance_does_not_explain_it(lived: int, tried: int, share: float, worse: bool) -> None:
    assert is_worse(lived, tried, share) is worse


def test_the_recorded_share_only_goes_down_and_only_by_enough_mutants() -> None:
    record = {"engine": 20.0, "rules": 5.0, "server": 10.0}
    lived = {"engine": 6, "rules": 30, "server": 0, "behaviours": 0}
    tried = {"engine": ENOUGH, "rules": ENOUGH, "server": ENOUGH - 1, "behaviours": ENOUGH}
    assert lowered(record, lived, tried) == {"engine": 18.8, "rules": 5.0, "server": 10.0, "behaviours": 4.9}


@pytest.mark.parametrize(("lived", "tried"), [(0, ENOUGH), (3, ENOUGH), (3, 1000), (ENOUGH, ENOUGH)])
def test_what_a_draw_shows_lies_above_its_own_share_and_no_like_draw_is_worse(lived: int, tried: int) -> None:
    shown = lowered({}, {"rules": lived}, {"rules": tried})["rules"]
    assert 100 * lived / tried <= shown <= 100
    for few in range(1, 11):
        assert not is_worse(round(few * lived / tried), few, shown)
