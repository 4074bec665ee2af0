"""Conditions proposed for `until`: with markers that the callee's last step really mentions."""

from __future__ import annotations

import pytest

from loop_ls.rules.until.criteria import from_last_step, general, words_told


def first(name: str, prompt: str) -> str:
    return from_last_step(name, prompt)[0].text


@pytest.mark.parametrize(
    ("name", "prompt", "condition"),
    [
        ("review", "Look at {{write}}. Start with PASS or FAIL, then give reasons.", "The review starts with PASS"),
        ("check", 'Respond EXACTLY:\n- "PASS: fine" if good\n- "FAIL: reason" if not', "The output says PASS"),
        ("final_report", "Write it up. The last line is APPROVED or REJECTED.", "The report ends with APPROVED"),
        ("polish", "Improve {{input}}. When nothing is left to do, say DONE.", "The output says DONE"),
        ("grade", "Give a score from 0 to 100 for {{draft}}.", "The score is at least 90 of 100"),
        ("grade", "Rate the text: quality 1-10", "The score is at least 8 of 10"),
        ("critique", "List remaining problems of {{draft}}, one per line.", "The critique lists no problems"),
        ("measure", "Tell the coverage in percent", "The coverage is above 90%"),
        ("verify", "Run the tests and show what they print", "All tests pass"),
        ("odd", "Reply with the word FERTIG once it is ready", "The output says FERTIG"),
        ("review", "Say END or\nPASS. Begin with the title.", "The review says PASS"),
        ("review", "Begin with the title. Say PASS.", "The review says PASS"),
        ("review", "Begin\nwith the title, say PASS", "The review says PASS"),
        ("review", f"Begin{' ' * 76}PASS", "The review says PASS"),
        ("review", f"Begin{' ' * 75}PASS", "The review starts with PASS"),
        ("review", "PASSED or PASS: begin with PASS", "The review says PASS"),
        ("grade", "Rate it from 0 to 5", "The score is at least 4 of 5"),
        ("grade", "Give a confidence in per cent and a score", "The confidence is above 90%"),
        ("odd-plan", "Report each bug", "The plan lists no bugs"),
        ("plan odd", "Report each bug", "The output lists no bugs"),
        ("Review", "Report errors", "The review lists no errors"),
        ("odd", "Reply with the word FERTIG or with the word ONLY", "The output says FERTIG"),
        ("negative", "If something is wrong write FAILED and the reason", "The output does not contain FAILED"),
    ],
)
def test_the_best_condition_looks_for_what_the_last_step_writes(name: str, prompt: str, condition: str) -> None:
    assert first(name, prompt) == condition
    assert from_last_step(name, prompt)[0].sure


@pytest.mark.parametrize(
    "prompt",
    [
        "Summarise {{input}}",
        "Return ONLY JSON, NEVER prose",
        "Call the REST API of {{NAME}}",
        "",
        "Answer ONLY with a title",
        "Say something nice",
    ],
)
def test_capitals_for_emphasis_and_formats_are_no_markers(prompt: str) -> None:
    assert from_last_step("step", prompt) == ()


def test_positive_verdicts_come_before_negative_ones_and_none_twice() -> None:
    texts = [c.text for c in from_last_step("review", "FAIL if bad, PASS if good. PASS needs a reason.")]
    assert texts == ["The review says PASS", "The review does not contain FAIL"]


def test_a_proposal_tells_where_it_comes_from() -> None:
    criterion = from_last_step("review", "Think.\n- Start with READY when it can ship\n")[0]
    assert criterion.why == "`review` is told to write it: “Start with READY when it can ship”"
    assert criterion.hole == "READY"


def test_a_line_of_the_prompt_is_quoted_without_its_dash_and_shortened() -> None:
    long = "Begin your whole reply with the word READY where nothing at all is left to be done about it"
    why = from_last_step("review", f"Think.\n- {long}\nThen stop.")[0].why
    assert "Think" not in why
    assert "Then" not in why
    assert "“Begin your" in why
    assert "…”" in why
    for name, prompt in (("a", "Rate it.\n- Rate it 1-10 now\nEnd"), ("b", "X.\n- Rate it 1-10 now")):
        assert from_last_step(name, prompt)[0].why == f"`{name}` gives one: “Rate it 1-10 now”"
    [tests, *more] = from_last_step("c", "Rate it 1-10, list errors, run the tests")[::-1]
    assert (tests.text, tests.sure, tests.hole) == ("All tests pass", True, "")
    assert [(one.text, one.sure, one.hole) for one in more] == [
        ("The output lists no errors", True, ""),
        ("The score is at least 8 of 10", True, "8 of 10"),
    ]


def test_the_words_of_a_verdict_are_told_good_ones_first() -> None:
    assert words_told("Say FAIL or PASS or APPROVED") == ("PASS", "APPROVED", "FAIL")
    assert words_told("Say FAIL or FERTIG") == ("FAIL",)
    assert words_told("FERTIG is said. Print ONLY FERTIG") == ("FERTIG",)


def test_general_conditions_name_one_checkable_fact() -> None:
    assert len({c.text for c in general()}) == len(general()) >= 5
    assert all("{{" not in c.text and " and " not in c.text for c in general())
    assert not any(c.sure for c in general())


def test_of_a_prompt_the_line_is_quoted_that_tells_of_the_marker() -> None:
    found = from_last_step("grade", "Read it.\nGive a score from 0 to 100.\nBe fair.")[0]
    assert "“Give a score from 0 to 100.”" in found.why
