"""Every row of the lists of completions has a test, and that test fails when what it is about is switched off."""

from __future__ import annotations

import pytest

from tests.features.rows import ROWS
from tests.features.switched_off import MODULES, tried
from tests.features.targets import TARGETS

#: All rows are tried in one process, before the first test here.
pytestmark = [pytest.mark.long, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    return tried({one.test for one in ROWS}, tmp_path_factory.mktemp("rows") / "report.json")


def test_no_row_stands_twice() -> None:
    assert len({(one.group, one.position) for one in ROWS}) == len(ROWS)
    for one in (*TARGETS, *ROWS):
        assert MODULES[one.test] == one.module, f"{one.test} stands for two modules"


def test_the_test_of_a_row_notices_that_it_is_off(outcomes: dict[str, list[str]]) -> None:
    assert {one.test: one.module for one in ROWS if "failed" not in outcomes.get(one.test, [])} == {}
