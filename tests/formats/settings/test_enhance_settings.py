"""The knobs of enhance loops: defaults, ranges, and what a workflow says for itself."""

from __future__ import annotations

from typing import Any

import pytest

from loop_ls.formats.common.target import Target
from loop_ls.formats.settings.enhance import Knobs, defaults, is_enabled, knobs


def test_EB_001_what_holds_when_nobody_says_anything() -> None:
    found, wrong = knobs(None, "report")
    assert (found.max_rounds, found.budget_cap_usd, found.convergence_mode) == (3, 5.0, "strict")
    assert found.pause_between_rounds is False
    assert (found, wrong) == (Knobs(), ())
    assert defaults()["maxRounds"] == 3


@pytest.mark.parametrize("rounds", [0, 21, 2.5, True, "3"])
def test_EB_002_what_is_out_of_range_is_not_taken(rounds: Any) -> None:
    found, wrong = knobs({"maxRounds": rounds})
    assert found.max_rounds == 3
    assert [one.name for one in wrong] == ["maxRounds"]
    own, _ = knobs({"maxRounds": 5, "workflows": {"report": {"maxRounds": rounds}}}, "report")
    assert own.max_rounds == 5


def test_EB_112_a_workflow_may_have_its_own() -> None:
    section = {"maxRounds": 3, "workflows": {"report": {"enabled": True, "maxRounds": 6}}}
    assert knobs(section, "report")[0].max_rounds == 6
    assert knobs(section, "other")[0].max_rounds == 3
    assert is_enabled(section, "report")
    assert not is_enabled(section, "other")


def test_a_cap_is_more_than_nothing() -> None:
    assert knobs({"budgetCapUsd": 0})[1][0].message == "`budgetCapUsd` must be more than 0"


def test_the_pool_is_a_list_of_pairs() -> None:
    assert knobs({"fallbackPool": [{"provider": "a", "model": "b"}]})[0].fallback_pool == (Target("a", "b"),)
    assert knobs({"fallbackPool": ["a/b"]})[0].fallback_pool == ()
