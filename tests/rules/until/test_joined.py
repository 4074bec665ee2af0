"""WF703: one condition asks one thing (vector C4 and more)."""

from __future__ import annotations

import pytest

from loop_ls.rules.until.joined import Joined, joined


@pytest.mark.parametrize(
    "condition",
    [
        "Builds AND lints AND has docs",
        "builds and lints and has docs",
        "Tests pass AND the code is clean",
        "Tests pass OR the limit is reached",
        "Tests pass && docs exist",
        "The draft is short and it is friendly or it is funny",
        "Tests pass || docs exist",
        "The reply says PASS OR APPROVED",
        "Tests pass &&",
    ],
)
def test_C4_several_checks(condition: str) -> None:
    assert joined(condition) is Joined.CHECKS


@pytest.mark.parametrize(
    "condition",
    [
        "Under 200 words and friendly in tone",
        "Word count is under 500 and tone is professional",
        "The text is under 90 words and the tone is friendly",
        "Quality is acceptable and no major issues exist",
        "All tests pass and no warnings",
        "All tests pass and coverage above 80%",
        "Tests pass or the limit is reached",
        "At least 3 sources are cited and each has a date",
        "The output says PASS and there are no open questions",
        "Under 200 words and exceeding 100 words",
        "No errors exist and there are sources",
        "The text, at last, is short and (at least) the tone is friendly",
        "The reply says PASS or it is approved",
        "All tests pass and zero warnings",
    ],
)
def test_C4_two_clauses(condition: str) -> None:
    assert joined(condition) is Joined.CLAUSES


@pytest.mark.parametrize(
    "condition",
    [
        "Score is 8 or higher",
        "The list has 50 or fewer entries",
        "Search and replace finished",
        "Verified and signed off",
        "Solution found and verified",
        "Found a fix and checked it",
        "Tests and lint pass",
        "Score for clarity and tone is above 8",
        "The reply contains a title and a summary",
        "The reply contains no errors and no warnings",
        "The reply says PASS or APPROVED",
        'The reply contains "builds and lints and has docs"',
        "It names each risk and how it is handled",
        "The summary lists each risk and the person who owns it",
        "The reply says PASS and lists no failing test",
        "The command is fine",
        "Contains a title, a summary and a list of sources",
        "The answer is yes or no",
        "All tests pass and no",
        "It is good and",
        "or it is good, too",
        "Under 200 words and 'friendly'",
        "Under 200 words and each bullet short",
        "Under 200 words is what it has and friendly in tone",
        "Friendly in tone and warm",
        "The text is long and a list",
        "The list is short and which items matter is told",
        "Contains zero errors and no warnings",
        "It says 'PASS' or 'FINE'",
        "It says 'PASS' or FINE",
        "",
        "and",
        "AND",
    ],
)
def test_C4_one_check(condition: str) -> None:
    assert joined(condition) is Joined.NO


def test_alternatives_of_one_text_are_one_check_and_a_bound_joins_nothing() -> None:
    assert joined("The reply says PASS or APPROVED") is Joined.NO
    assert joined('The reply says "yes" or "no"') is Joined.NO
    assert joined("The reply says PASS OR APPROVED") is Joined.CHECKS
    assert joined("The list has between 3 and at most 5 entries") is Joined.NO


def test_what_follows_the_second_of_two_texts_joins_nothing() -> None:
    assert joined("The reply says PASS or APPROVED stands below") is Joined.NO
    assert joined("The reply says DONE or READY is in its last line") is Joined.NO
    assert joined("The grade is A or I am fine") is Joined.CLAUSES
    assert joined("Under 200 words and friendly in tone") is Joined.CLAUSES
    assert joined("Coverage over 80% and friendly in tone") is Joined.NO
    assert joined("The reply says it or the list stands below") is Joined.CLAUSES
