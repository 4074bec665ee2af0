"""Verdicts in words: what the answer of a check says, however it is written."""

from __future__ import annotations

import re

import pytest
import regex

from loop_ls.formats.workflow.verdict_prompt import SAYS_PASS, verdict_in

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
    "Bananas are yellow": None,
    "": None,
}


@pytest.mark.parametrize(("answer", "said"), SAID.items())
def test_a_verdict_is_read_behind_mark_up_and_what_announces_it(answer: str, said: str | None) -> None:
    assert verdict_in(answer) == said
    assert (re.search(SAYS_PASS, answer) is not None) is (said == "pass")
    assert (regex.search(SAYS_PASS, answer) is not None) is (said == "pass")
