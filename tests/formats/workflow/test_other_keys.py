"""The tables of role loops and assistants agree with the values that run."""

from __future__ import annotations

from loop_ls.formats.assistant.keys import CRITERIA, CRITERIA_TYPES
from loop_ls.formats.role_loop.keys import DEFINITION, EVALUATION_VALUE, TERMINATIONS, VALUES
from loop_ls.formats.role_loop.model import REVIEW_ROUNDS, REWORK_ATTEMPTS


def test_types_of_ends_and_criteria() -> None:
    assert set(VALUES) < set(TERMINATIONS)
    assert set(CRITERIA.keys["type"].choices) == set(CRITERIA_TYPES)


def test_the_table_and_the_values_that_run_know_the_same_defaults() -> None:
    assert EVALUATION_VALUE.keys["max_review_rounds"].default == str(REVIEW_ROUNDS)
    assert DEFINITION.keys["max_rework_attempts"].default == str(REWORK_ATTEMPTS)
