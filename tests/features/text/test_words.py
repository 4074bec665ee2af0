"""Durations, lists and excerpts in words."""

from __future__ import annotations

import pytest

from loop_ls.features.text import humanize


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (90, "1 minute 30 seconds"),
        (3600, "1 hour"),
        (5400.5, "1 hour 30 minutes 0.5 seconds"),
        (1.5, "1.5 seconds"),
        (1, "1 second"),
        (0.25, "250 milliseconds"),
        (0.000003, "3 microseconds"),
        (5e-9, "5 nanoseconds"),
        (0, "no time"),
        (-2, "minus 2 seconds"),
        (172800, "48 hours"),
    ],
)
def test_durations_in_words(seconds: float, said: str) -> None:
    assert humanize.duration(seconds) == said


def test_lists() -> None:
    assert humanize.listed(["a"]) == "a"
    assert humanize.listed(["a", "b", "c"], "or") == "a, b or c"


def test_excerpt_is_one_line_and_short() -> None:
    assert humanize.excerpt("FAIL:\n  missing   test") == "FAIL: missing test"
    assert len(humanize.excerpt("x " * 5000)) <= 80
    assert humanize.excerpt("y" * 90).endswith("…")
