"""Durations in Go's notation."""

import pytest

from loop_ls.formats.common.duration import parse_duration, show_duration
from loop_ls.formats.workflow.keys import EXECUTION
from tests.formats.reading import field

TIMEOUT = EXECUTION.keys["timeout"]

GOOD = {
    "30s": 30,
    "5m": 300,
    "1h30m": 5400,
    "1.5h": 5400,
    ".5h": 1800,
    "250ms": 0.25,
    "0": 0,
    "10us": 1e-5,
    "10µs": 1e-5,
    "10μs": 1e-5,
    "7ns": 7e-9,
    "-5s": -5,
    "+5s": 5,
    "1.s": 1,
}
BAD = ["30", "1 minute", "1d", "5 m", "1m 30s", "m5", "", "s", ".s", "1h30", "1e3s", "-", "9999999999h", "٣s", "5S"]


@pytest.mark.parametrize(("text", "seconds"), GOOD.items())
def test_C6_good_durations(text: str, seconds: float) -> None:
    assert parse_duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", BAD)
def test_C6_bad_durations(text: str) -> None:
    assert parse_duration(text) is None


def test_C6_a_number_without_a_unit_is_no_duration_although_its_text_may_be_one() -> None:
    assert field(TIMEOUT, "30").fault == "duration"
    assert field(TIMEOUT, "0").fault == "duration"
    assert field(TIMEOUT, "1.5").fault == "duration"
    quoted = field(TIMEOUT, '"0"')
    assert quoted.fault is None
    assert quoted.value == 0


def test_C6_an_empty_text_is_no_duration_but_nothing_at_all_is_absent() -> None:
    assert field(TIMEOUT, '""').fault == "duration"
    nothing = field(TIMEOUT, "")
    assert nothing.fault is None
    assert nothing.value is None
    assert nothing.empty


def test_a_list_is_of_the_wrong_type_rather_than_a_bad_duration() -> None:
    assert field(TIMEOUT, "[30s]").fault == "type"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(90, "1m30s"), (3600, "1h"), (0.25, "250ms"), (0, "0s"), (-5, "-5s"), (3661.5, "1h1m1.5s")],
)
def test_durations_are_shown_the_usual_way(seconds: float, text: str) -> None:
    assert show_duration(seconds) == text
    assert parse_duration(text) == pytest.approx(seconds)
