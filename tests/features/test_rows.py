"""Every row of the lists of completions has a test, and that test fails when what it is about is switched off."""

from __future__ import annotations

from importlib import import_module

import pytest

from tests.features.rows import ROWS, Row
from tests.features.switched_off import MODULES, tried
from tests.features.targets import TARGETS

#: All rows are tried in one process, before the first test here.
pytestmark = pytest.mark.timeout(600)


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    return tried({one.test for one in ROWS}, tmp_path_factory.mktemp("rows") / "report.json")


def test_no_row_stands_twice() -> None:
    assert len({(one.group, one.position) for one in ROWS}) == len(ROWS)
    for one in (*TARGETS, *ROWS):
        assert MODULES[one.test] == one.module, f"{one.test} stands for two modules"


@pytest.mark.parametrize("row", ROWS, ids=lambda one: f"{one.group.partition(':')[0]}, {one.position}")
def test_every_row_has_a_test_that_is_there(row: Row) -> None:
    path, _, name = row.test.partition("::")
    assert callable(getattr(import_module(path.removesuffix(".py").replace("/", ".")), name, None)), row.test


@pytest.mark.parametrize("row", ROWS, ids=lambda one: f"{one.group.partition(':')[0]}, {one.position}")
def test_the_test_of_a_row_notices_that_it_is_off(row: Row, outcomes: dict[str, list[str]]) -> None:
    assert "failed" in outcomes.get(row.test, []), f"{row.test} passes without {row.module}"
