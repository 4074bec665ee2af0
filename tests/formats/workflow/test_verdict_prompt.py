"""Verdicts in words: what the answer of a check says, however it is written."""

from __future__ import annotations

import pytest

from loop_ls.formats.workflow.verdict_prompt import verdict_in

SAID = {
    "PASS": "pass",
    "passed, all of it": "pass",
    "**PASS**": "pass",
    "`FAIL`: too long": "fail",
    "__FAIL__ too long": "fail",
    "**Verdict:** FAIL, too long": "fail",
    "Verdict: PASS": "pass",
    "Result - failed": "fail",
    "# Result\n\nFAIL": "fail",
    "## Final verdict\nPASS": "pass",
    "My overall assessment: **FAIL**": "fail",
    "The verdict is FAIL.": "fail",
    '{"verdict": "FAIL", "reason": "too long"}': "fail",
    "PASS or FAIL: FAIL": "fail",
    "Verdict (PASS/FAIL): PASS": "pass",
    "**PASS** or **FAIL**: FAIL": "fail",
    "'PASS' or 'FAIL': PASS": "pass",
    "PASS: it does not fail": "pass",
    "PASS: No problems": "pass",
    "- PASS: short\n- PASS: clear": "pass",
    "PASS\n\nFailed logins are counted": "pass",
    "PASS or FAIL?": None,
    "- [ ] PASS\n- [x] FAIL": None,
    "\u2610 PASS \u2611 FAIL": None,
    "~~PASS~~ FAIL": None,
    "PASS\nFAIL": None,
    "- PASS: short\n- FAIL: false": None,
    '{"pass": false, "reason": "too long"}': None,
    "Pass: no": None,
    "Passengers like it": None,
    "Failure is no option": None,
    "Verdict: not a PASS": None,
    "The result passes through many hands": None,
    "PASS with two remarks: short, clear": "pass",
    "Passes all of it, 3 of 3": "pass",
    "PASS: 10 of 10": "pass",
    "PASS - none of the problems is left": "pass",
    "PASS is not possible here": None,
    "**PASS** would be wrong": None,
    "PASS? No.": None,
    "PASS if it were shorter": None,
    "Pass criteria: short. Not met.": None,
    "Pass rate: 20%": None,
    "Passed checks: 3\nFailed checks: 2": None,
    "PASSED: 0 of 3": None,
    "PASS: 0": None,
    "PASS:\nfalse": None,
    "PASS - no.": None,
    "PASS: \u274c": None,
    "PASS \u2717": None,
    "PASS oder FAIL: FAIL": None,
    "PASS nicht erreicht": None,
    "PASS: nicht bestanden.": None,
    "PASS: not ok": None,
    "PASS: not one problem is left": "pass",
    "PASS\nIt is short.\n\n**Final verdict:** FAIL": None,
    "PASS!\nBut see below: FAIL": None,
    "PASS\nIt does not FAIL anywhere": "pass",
    "PASS \u2014 no, FAIL": None,
    "PASS: N": None,
    "PASS: n.": None,
    "PASS N/A": None,
    "PASS: N/A": None,
    "PASS: 3/10": None,
    "**PASS**: 3 of 10 criteria": None,
    "PASS = 0.5/1": None,
    "PASS: 10/10": "pass",
    "PASS: 3 out of 3": "pass",
    "PASS: Y": "pass",
    "PASS: new and short": "pass",
    "PASS: 3 remarks": "pass",
    "Bananas are yellow": None,
    "": None,
}


@pytest.mark.parametrize(("answer", "said"), SAID.items())
def test_a_verdict_is_read_behind_mark_up_and_what_announces_it(answer: str, said: str | None) -> None:
    assert verdict_in(answer) == said


@pytest.mark.parametrize("rest", ["\n", ":", ": \n", "- ", "x: - ", "* FAI"])
def test_a_long_answer_is_read_at_once(rest: str) -> None:
    assert verdict_in("PASS\n" + rest * 200_000) == "pass"
