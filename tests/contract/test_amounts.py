"""Amounts as people read them. The editor's own formatter is tested with the same examples."""

from __future__ import annotations

import json
import math
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from loop_ls.contract import amounts

EXAMPLES = json.loads(Path(__file__).with_name("amounts.json").read_text("utf-8"))


@pytest.mark.parametrize(("usd", "said"), EXAMPLES["money"])
def test_money(usd: float, said: str) -> None:
    assert amounts.money(usd) == said


def test_an_unknown_amount_is_not_shown() -> None:
    assert [amounts.money(usd) for usd in (None, math.inf, math.nan)] == ["", "", ""]


@pytest.mark.parametrize(("milliseconds", "said"), EXAMPLES["clock"])
def test_clock(milliseconds: float, said: str) -> None:
    assert amounts.clock(milliseconds) == said


@pytest.mark.parametrize(
    ("active", "total", "said"),
    [(41_000, 41_900, "00:41"), (41_000, 723_000, "00:41 at work, 12:03 in all"), (41_000, 0, "00:41")],
)
def test_time_is_told_with_pauses_where_there_were_any(active: float, total: float, said: str) -> None:
    assert amounts.time_taken(active, total) == said


@pytest.mark.parametrize(("seconds", "short", "full"), EXAMPLES["ago"])
def test_ago(seconds: float, short: str, full: str) -> None:
    assert (amounts.ago(seconds), amounts.ago(seconds, full=True)) == (short, full)


@pytest.mark.parametrize(("number", "noun", "said"), EXAMPLES["count"])
def test_count(number: int, noun: str, said: str) -> None:
    assert amounts.count(number, noun) == said


def test_what_an_enhance_loop_has_spent() -> None:
    assert amounts.rounds_spent(2, 3, 1.09, 5) == "Round 2 of 3 · $1.09 of $5.00"
    assert amounts.rounds_spent(0, 3, 0, None) == "Round 1 of 3 · $0 of $0"


def test_UP_87_a_wait_names_its_hour_and_the_day_where_it_is_another() -> None:
    now = datetime.now().astimezone().replace(hour=11, minute=5)
    assert amounts.waiting_until(now.isoformat()) == "waiting until 11:05"
    assert amounts.waiting_until((now + timedelta(days=2)).isoformat()).startswith("waiting until 2")
    assert [amounts.waiting_until(none) for none in (None, "", "soon")] == ["", "", ""]
