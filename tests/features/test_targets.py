"""Every target has a test, and that test fails when what it is about is switched off."""

from __future__ import annotations

import pytest

from tests.features.switched_off import tried
from tests.features.targets import TARGETS

#: All targets are tried in one process, before the first test here.
pytestmark = [pytest.mark.long, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    return tried({one.test for one in TARGETS}, tmp_path_factory.mktemp("targets") / "report.json")


def test_no_test_stands_for_two_targets() -> None:
    assert len({one.test for one in TARGETS}) == len(TARGETS)
    assert len({(one.group, one.feature) for one in TARGETS}) == len(TARGETS)


def test_the_test_of_a_target_notices_that_it_is_off(outcomes: dict[str, list[str]]) -> None:
    assert {one.test: one.module for one in TARGETS if "failed" not in outcomes.get(one.test, [])} == {}
