"""WF701: a condition has to name something to look for (vector C3 and more)."""

from __future__ import annotations

import pytest

from loop_ls.rules.until.vague import is_vague


@pytest.mark.parametrize(
    "condition",
    [
        "It is fine",
        "Everything seems okay",
        "The result is good enough",
        "Done",
        "Better than last time",
        "The quality is acceptable",
        "It's perfect now.",
        "Looks great!",
        "All is well",
        "The output is better than before",
        "The answer feels right",
        "You are happy with the result",
        "The work is finished",
        "The output {{loop.output}} is correct",
        "Output is of high quality",
        "It is OK",
        "Good: as it is",
        "{{ step.loop.last.output }} is fine",
    ],
)
def test_C3_a_general_judgement_is_vague(condition: str) -> None:
    assert is_vague(condition)


@pytest.mark.parametrize(
    "condition",
    [
        "Tests pass",
        "Task complete",
        "Found a fix and checked it",
        "The reply contains READY",
        "No problems found",
        "Score is at least 8 of 10",
        "Quality rating is excellent",
        "Deployment worked",
        "Success",
        "READY",
        "It says DONE",
        'The output says "fine"',
        "The essay is good",
        "It is BAD",
        "The output is of it",
        "{{draft}} is fine",
        "The result is above 90",
        "The output is longer than {{env.WORDS}}",
        "Everything in the checklist is ticked",
        "Es ist gut",
        "",
    ],
)
def test_C3_a_fact_or_text_to_look_for_is_not(condition: str) -> None:
    assert not is_vague(condition)
