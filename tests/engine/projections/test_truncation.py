"""What is cut says how long it was; the rest passes through as it is."""

from __future__ import annotations

from loop_ls.engine.projections.truncation import cut


def test_long_texts_are_cut_and_say_their_length() -> None:
    fact = {"kind": "iteration", "output": "x" * 50, "seq": 3, "error": {"message": "y" * 11}}
    assert cut(fact, 10) == {
        "kind": "iteration",
        "output": "x" * 10,
        "seq": 3,
        "error": {"message": "y" * 10, "lengths": {"message": 11}},
        "lengths": {"output": 50},
    }


def test_what_is_short_enough_is_the_same() -> None:
    rows = [{"output": "x" * 10, "stages": [{"output": None, "usd": 0.5}]}]
    assert cut(rows, 10) == rows
    assert cut(rows, None) is rows


def test_what_says_where_something_happened_is_never_cut() -> None:
    fact = {"kind": "iteration", "place": "a/1/b/2/c/3", "output": "long text"}
    assert cut(fact, 4) == {**fact, "output": "long", "lengths": {"output": 9}}


def test_an_answer_that_ended_at_its_limit_still_says_so() -> None:
    judged = {"kind": "judged", "verdict": "yes", "answer": "YES, because", "cut": True}
    assert cut(judged, 4) == {**judged, "answer": "YES,", "lengths": {"answer": 12}}
