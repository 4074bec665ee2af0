"""Where a `rag` step searches that names nothing (WF812): what the settings have a default for needs no word."""

from __future__ import annotations

from typing import Any

import pytest

from loop_ls.formats.settings.model import settings_of
from loop_ls.testing.fixture import read_fixture
from tests.rules.checking import findings_of


@pytest.mark.parametrize(
    ("rag", "expected"),
    [
        (None, ["WF812"]),
        ({"topK": 3}, ["WF812"]),
        ({"server": "notes"}, []),
        ({"stores": {"notes": {"server": "notes"}}}, []),
        ({"stores": {"notes": {"server": "notes"}, "books": {"server": "books"}}}, ["WF812"]),
    ],
)
def test_WF812_a_default_of_the_settings_is_searched(rag: Any, expected: list[str]) -> None:
    source = 'steps:\n  - {name: find, rag: {query: "{{input}}"}}\n'
    settings = settings_of({} if rag is None else {"rag": rag})[0]
    assert [one.rule for one in findings_of(read_fixture(source), settings=settings)["flow.yaml"]] == expected
