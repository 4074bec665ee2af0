"""Words of approval: what approves, and what speaks against it."""

from __future__ import annotations

import json
from unittest import mock

import pytest

from loop_ls.engine.roles.approval import APPROVALS, REJECTIONS, by_last_line, by_words
from loop_ls.engine.roles.body import _SIGNAL, SIGNAL_LINE
from loop_ls.engine.roles.gate import TRIES, read_gate
from loop_ls.formats.role_loop.built_in_loops import BUILT_IN, built_in_text
from loop_ls.formats.role_loop.model import EvaluationBound
from loop_ls.formats.role_loop.read import read_role_loop
from loop_ls.testing.call_count import calls_in

from .conftest import EngineProject


@pytest.mark.parametrize("text", ["APPROVED", "**Approved**", "_approved_", "All done. APPROVED.", "Status: approved"])
def test_RB_045_approved_approves(text: str) -> None:
    assert by_words(text).approved


@pytest.mark.parametrize("text", ["lgtm", "LGTM, ship it", "looks\n good", "Looks good to me"])
def test_RB_046_letter_case_and_blanks_do_not_count(text: str) -> None:
    assert by_words(text).approved


@pytest.mark.parametrize("text", ["NEEDS CHANGES — validation missing", "needs_changes", "", "All tests are green."])
def test_RB_047_no_signal_or_a_rejection_is_no_approval(text: str) -> None:
    assert not by_words(text).approved


@pytest.mark.parametrize(
    "text",
    [
        *("Not approved", "not yet approved", "This isn't approved.", "It cannot be accepted", "never accepted"),
        *("I can’t approve this: LGTM otherwise", "The earlier rejected points are fixed. APPROVED"),
    ],
)
def test_RB_048_a_negation_is_no_approval(text: str) -> None:
    assert not by_words(text).approved


@pytest.mark.parametrize("rejection", REJECTIONS)
def test_RB_049_one_rejection_outweighs_every_approval(rejection: str) -> None:
    assert not by_words(f"Looks good, LGTM, approved, but {rejection}").approved
    assert not by_words("Looks good but needs work").approved


@pytest.mark.parametrize("text", ["Disapproved", "unapproved", "pre-approved", "approvedly", "reaccepted"])
def test_RB_050_a_part_of_a_word_is_no_signal(text: str) -> None:
    assert not by_words(text).approved


def test_RB_052_the_full_text_is_judged() -> None:
    assert by_words("word " * 500 + "APPROVED").approved


@pytest.mark.parametrize("text", ["Accepted.", "accepted"])
def test_RB_112_accepted_approves(text: str) -> None:
    assert by_words(text).approved


def test_RB_113_passes_all_criteria_approves_and_unaccepted_does_not() -> None:
    assert by_words("The work passes all criteria").approved
    assert not by_words("unaccepted").approved
    assert not by_words("not accepted").approved
    assert APPROVALS == ("approved", "lgtm", "looks good", "accepted", "passes all criteria")


@pytest.mark.parametrize(
    ("text", "approved", "signal"),
    [
        ("Not approved yet. It will be approved once the tests pass.", False, "Not approved"),
        ("Disapproved.", False, "Disapproved"),
        ("LGTM", True, "LGTM"),
    ],
)
def test_UP_69_the_words_that_decide_are_part_of_the_answer(text: str, approved: bool, signal: str) -> None:
    found = by_words(text)
    assert (found.approved, found.signal) == (approved, signal)
    assert signal in found.reason


def test_RB_133_a_definition_may_add_signals() -> None:
    assert not by_words("I approve").approved
    assert by_words("I approve", ["approve"]).approved
    assert not by_words("I cannot approve", ["approve"]).approved


def test_RB_048_a_clause_before_does_not_negate() -> None:
    assert by_words("There are not many open points, approved").approved


@pytest.mark.parametrize(
    ("text", "approved"),
    [
        ("The earlier rejected points are fixed.\nAPPROVED", True),
        ("APPROVED\nNeeds work: the tests", False),
        ("**Verdict:** approved\nThanks.", True),
        ("It is approved", False),
        ("- APPROVED", True),
        ("NEEDS CHANGES\n1. Accepted inputs are not checked\n- Approved words are missing", False),
        ("", False),
    ],
)
def test_RB_133_in_mode_verdict_line_the_last_line_that_begins_with_a_signal_decides(text: str, approved: bool) -> None:
    assert by_last_line(text).approved is approved


@pytest.mark.parametrize(
    "text",
    [
        "I would have APPROVED this, but the tests fail.",
        "APPROVED: no",
        "**APPROVED**: not yet",
        "Approved once the tests pass",
        "APPROVED, but the tests fail",
        "Verdict: FAIL. Respond APPROVED only when fixed",
        "Once X is fixed it can be approved",
    ],
)
def test_RB_145_a_verdict_line_that_takes_its_approval_back_is_none(text: str) -> None:
    assert not by_last_line(text).approved
    assert by_last_line("APPROVED: no open point is left").approved


def test_RB_145_the_built_in_reviewers_decide_by_their_verdict_line() -> None:
    loops = {name: read_role_loop(built_in_text(name)) for name in BUILT_IN}
    judged = {
        name: loop for name, loop in loops.items() if isinstance(getattr(loop, "termination", None), EvaluationBound)
    }
    assert len(judged) == 3
    assert {loop.approval.mode for loop in judged.values()} == {"verdict_line"}


@pytest.mark.parametrize(
    ("text", "approved", "signal"),
    [
        ("xapproved APPROVED", True, "APPROVED"),
        ("pre-approved", False, None),
        ("preapproved approvedly", False, None),
        ("İİİ LGTM", True, "LGTM"),
        ("It LOOKS \n Good", True, "LOOKS \n Good"),
        ("looks good: NEEDS   Work", False, "NEEDS   Work"),
    ],
)
def test_RB_052_the_words_are_found_at_their_place_whatever_stands_before(
    text: str, approved: bool, signal: str | None
) -> None:
    found = by_words(text)
    assert (found.approved, found.signal) == (approved, signal)


def test_RB_052_a_signal_that_begins_inside_of_another_place_is_found() -> None:
    assert by_words("xgo go go", ["go go"]).signal == "go go"
    assert by_last_line("İ: Verdict: GO go", ["go go"]).approved is False
    assert by_last_line("Verdict: GO go", ["go go"]).signal == "GO go"


def test_RB_052_an_output_of_millions_of_characters_holds_nobody_up() -> None:
    """Each was half a minute and more, and worse with twice the length."""
    assert not by_words("lorem ipsum dolor " * 200_000).approved
    assert not by_last_line("abc def\n" * 100_000).approved
    assert calls_in(lambda: by_last_line("abc def\n" * 1000)) < 20 * 1000
    assert _SIGNAL.match(("STATUS" + " " * 20_000).strip()[:SIGNAL_LINE]) is None


def test_UP_72_a_verdict_is_looked_for_behind_so_many_braces_and_findings_may_be_anything() -> None:
    good = '{"requirements_met": true, "quality_pass": true, "findings": %s}'
    for findings in ("5", "true", '"text"', '{"a": 1}', "[5, null]", "null"):
        found = read_gate(good % findings)
        assert found is not None
        assert found.approved, findings
    assert read_gate("{ " * 50 + good % "[]") is not None
    for text in ("{ " * 500_000, '{"a":' * 20_000):
        with mock.patch.object(json.JSONDecoder, "raw_decode", autospec=True, side_effect=ValueError) as tried:
            assert read_gate(text) is None
        assert 0 < tried.call_count <= TRIES
        assert read_gate(text) is None


async def test_RB_044_a_stage_that_says_a_line_of_blanks_does_not_hold_up_the_engine(project: EngineProject) -> None:
    project.say(write=["STATUS" + " " * 30_000 + "\nok"], judge_it="APPROVED")
    state = await project.run()
    assert state["reason"] == "approved"
    project.say(write=["  **STATUS: BLOCKED**\nno key"])
    assert (await project.given_up())["status"] == "blocked"
