"""Endings: one table of reasons, and one sentence for each on every surface."""

from __future__ import annotations

from typing import get_args

import pytest

from loop_ls.contract.endings import ENDINGS, Reason, ending, exit_code, kind_of, line, short, sign, status_of


def _reasons() -> set[str]:
    return {one for group in get_args(Reason) for one in (get_args(group) or (group,))}


def test_every_reason_has_its_words() -> None:
    assert set(ENDINGS) == _reasons()


@pytest.mark.parametrize("reason", ENDINGS)
def test_a_limit_never_reads_like_a_success(reason: str) -> None:
    status, limit = status_of(reason), ENDINGS[reason].kind == "limit"
    assert (sign(status, reason) == "✓") == (ENDINGS[reason].kind == "success")
    assert (exit_code(status, reason) == 3) == limit
    assert "completed" not in line(status, reason, 3) or reason == "completed"


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        ("condition_met", "condition met in iteration 4"),
        ("max_iterations", "limit reached after 4 iterations, condition not met"),
        ("no_items", "no items"),
        ("budget", "budget used up after 4 iterations"),
        ("unchanged", "the output no longer changes after 4 iterations"),
        ("completed", "completed after 4 iterations"),
        ("timeout", "timed out in iteration 4"),
        ("question", "blocked: waiting for an answer"),
        ("teardown", "stopped in iteration 4: the editor was closed"),
    ],
)
def test_the_sentence_of_a_loop(reason: str, words: str) -> None:
    assert line(status_of(reason), reason, 4) == words


@pytest.mark.parametrize(
    ("failed", "words"),
    [
        ([3], "completed: 5 of 6 iterations succeeded, iteration 3 failed"),
        ([3, 5], "completed: 4 of 6 iterations succeeded, iterations 3 and 5 failed"),
        ([1, 2, 3, 4, 5, 6], "completed: 0 of 6 iterations succeeded, iterations 1, 2, 3, 4, 5 and 1 more failed"),
    ],
)
def test_a_loop_that_went_on_without_some_of_its_items(failed: list[int], words: str) -> None:
    assert line("completed", "completed", 6, failed=failed) == words
    assert line("completed", "condition_met", 6, failed=failed) == "condition met in iteration 6"


def test_rounds_give_up_with_a_reason() -> None:
    assert line("completed", "no_ops", 2, "round") == "gave up after 2 rounds: the planner proposed no allowed change"
    assert line("completed", "converged", 2, "round") == "converged in round 2"


def test_a_reason_of_a_newer_engine_is_shown_as_it_is_written() -> None:
    assert short("out_of_luck") == "out of luck"
    assert kind_of("completed", "out_of_luck") == "limit"  # what is not known to be a success is none


def test_the_ending_of_a_state() -> None:
    assert ending({"status": "running"}) is None
    state = {"status": "completed", "reason": "budget", "iteration": 2, "because": "$1.00 of $1.00 are spent."}
    assert ending(state) == {
        "kind": "limit",
        "sign": "◼",
        "short": "budget used up",
        "line": "budget used up after 2 iterations ($1.00 of $1.00 are spent)",
    }
    failed = {"status": "failed", "reason": "error", "iteration": 1, "error": {"code": "auth", "message": "wrong key"}}
    assert (ending(failed) or {})["line"] == "failed in iteration 1: wrong key"
    sentence = {**failed, "error": {"code": "auth", "message": "The key is wrong."}}
    assert (ending(sentence) or {})["line"] == "failed in iteration 1: The key is wrong"
