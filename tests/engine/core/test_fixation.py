"""When outputs in a row count as equal, so that an unlimited loop ends."""

from __future__ import annotations

import pytest

from loop_ls.engine.core.fixation import LARGE, FixationCounter, same, worth_saying

WORDS = " ".join(f"word{n}" for n in range(100))


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        ("", "", True),
        ("The same.", "the   same", True),
        ("The same", "The other", False),
        ("FAIL: 1 test", "FAIL: 2 tests", False),
        ("", "  ", True),
        ("a  b\nc", "A b c!", True),
        ("a b", "b a", True),
        ("a", "a a", False),
        (WORDS, WORDS.replace("word7 ", "other "), True),
        (WORDS, WORDS.replace("word7 word8 ", "other one "), False),
        ("x", "x" + " " * 40, True),
        ("x", "x" + " " * 44, False),
        ("y" * LARGE, "y" * LARGE, True),
        ("x " + " " * (LARGE // 2 - 4), "x " + " " * (LARGE // 2), True),
        ("x " + " " * (LARGE // 2 - 1), "x " + " " * (LARGE // 2), False),
    ],
)
def test_UP_46_outputs_are_equal_by_their_words(one: str, other: str, equal: bool) -> None:
    assert same(one, other) is same(other, one) is equal


def test_UP_46_equal_outputs_are_counted_as_long_as_they_follow_each_other() -> None:
    counter = FixationCounter()
    assert [counter.hear(text) for text in ("a", "A", "a.", "b", "a", "a")] == [1, 2, 3, 1, 1, 2]


def test_UP_46_a_row_is_told_each_time_that_it_has_doubled() -> None:
    assert [count for count in range(20) if worth_saying(count)] == [2, 4, 8, 16]
