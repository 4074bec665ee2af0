"""Every numbered behaviour of docs/dev/behaviours.md has a test that carries its number, and every number has its line.

A test shows number 12 of `WB` when it is called `test_WB_012_...`, in Python or in the client's TypeScript.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TESTS = ROOT / "tests"
CLIENT = ROOT / "vscode-client" / "test"
PAGE = ROOT / "docs" / "dev" / "behaviours.md"

_TEST = re.compile(r"^\s*(?:async )?def test_([A-Z]+)_?(\d+)_", re.MULTILINE)
#: Marks a whole file, or tests and cases in it.
_LONG = re.compile(r"pytest\.mark\.long\b")
_IN_CLIENT = re.compile(r"^\s*test(?:\.\w+(?:\([^)]*\))?)?\(\s*[\"'`]test_([A-Z]+)_?(\d+)_", re.MULTILINE)
_SERIES = re.compile(r"^## ([A-Z]+): ", re.MULTILINE)
_LINE = re.compile(r"^\* \*\*([A-Z]+)_?(\d+)\*\* (.+)$", re.MULTILINE)

Number = tuple[str, int]


def promised() -> list[tuple[Number, str]]:
    """Number and sentence of every line of the page, in its order."""
    return [((prefix, int(number)), sentence) for prefix, number, sentence in _LINE.findall(PAGE.read_text("utf-8"))]


def shown() -> set[Number]:
    """The number of everything that some test shows."""
    places = [(TESTS.rglob("test_*.py"), _TEST), (CLIENT.rglob("*.test.ts"), _IN_CLIENT)]
    return {
        (prefix, int(number))
        for paths, named in places
        for path in paths
        for prefix, number in named.findall(path.read_text("utf-8"))
    }


SERIES = _SERIES.findall(PAGE.read_text("utf-8"))


def test_the_page_has_every_series() -> None:
    assert sorted(SERIES) == ["AB", "C", "D", "EB", "RB", "UP", "WB"]


def test_what_the_usual_run_leaves_out_shows_no_number() -> None:
    left_out = [path for path in TESTS.rglob("test_*.py") if _LONG.search(path.read_text("utf-8"))]
    assert left_out
    assert [path.name for path in left_out if _TEST.search(path.read_text("utf-8"))] == []


@pytest.mark.parametrize("prefix", SERIES)
def test_a_series_counts_from_one_without_gaps(prefix: str) -> None:
    numbers = [number for (series, number), _ in promised() if series == prefix]
    assert numbers == list(range(1, len(numbers) + 1))
    assert numbers


@pytest.mark.parametrize("prefix", SERIES)
def test_every_number_of_the_page_has_a_test(prefix: str) -> None:
    there = shown()
    missing = [
        f"{prefix}_{number:03d}"
        for (series, number), _ in promised()
        if series == prefix and (series, number) not in there
    ]
    assert missing == []


def test_every_number_of_a_test_stands_on_the_page() -> None:
    known = {number for number, _ in promised()}
    assert sorted(number for number in shown() if number[0] in SERIES and number not in known) == []


def test_every_behaviour_is_one_sentence_of_its_own() -> None:
    sentences = [sentence for _, sentence in promised()]
    assert [text for text in sentences if not text.endswith(".")] == []
    assert [text for text, count in Counter(sentences).items() if count > 1] == []
