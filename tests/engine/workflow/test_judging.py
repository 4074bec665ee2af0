"""Asking the condition of a refine loop, and reading the answer."""

from __future__ import annotations

from typing import Any

import pytest

from loop_ls.contract.endings import kind_of, status_of
from loop_ls.engine.core.ports import ModelReply
from loop_ls.engine.judges.verdict_parser import read_verdict
from loop_ls.engine.projections.verbose_log import verbose_lines
from loop_ls.testing.models import failure
from loop_ls.testing.workflows import Ran, run

UNTIL = "The review says PASS"
WORK = "steps: [{name: work, run: 'do it'}]"
UNCLEAR = ["It is satisfied", "", "EYES"]


def main(until: str = UNTIL, limit: int = 2, head: str = "") -> str:
    return f"""
{head}
loops: [{{name: l, workflow: work, max_iterations: {limit}, until: '{until}'}}]
"""


async def judged(until: str = UNTIL, limit: int = 2, head: str = "", work: str = WORK, **given: Any) -> Ran:
    plan = {name: given.pop(name) for name in ("settings", "environment") if name in given}
    return await run({"main": main(until, limit, head), "work": work}, {"judge": "NO", **given}, **plan)


async def test_WB_086_the_question_is_exactly_this() -> None:
    ran = await judged(answer="x", work="steps: [{name: answer, run: go}]", limit=1)
    assert ran.prompt("judge") == (
        'Evaluate this condition: "The review says PASS"\n'
        "\n"
        "Output to evaluate:\n"
        "x\n"
        "\n"
        "Answer with YES if condition is met, NO if not met."
    )


async def test_WB_086_quotes_are_not_escaped_and_the_output_is_not_changed() -> None:
    ran = await run({"main": main('It says "OK" now', 1), "work": WORK}, {"judge": "NO", "work": ' two\n\n "lines"\n '})
    assert ran.prompt("judge") == (
        'Evaluate this condition: "It says "OK" now"\n\nOutput to evaluate:\n two\n\n "lines"\n \n\n'
        "Answer with YES if condition is met, NO if not met."
    )


async def test_WB_087_a_long_output_is_judged_whole() -> None:
    output = "x" * 100_000 + "\nPASS"
    ran = await run({"main": main(limit=1), "work": WORK}, {"judge": "NO", "work": output})
    assert output in ran.prompt("judge")


async def test_WB_088_the_question_holds_the_value_and_the_log_what_was_written() -> None:
    ran = await judged("The score is at least {{env.MIN}}", 1, "env: {MIN: '90'}", judge="NO")
    assert 'Evaluate this condition: "The score is at least 90"' in ran.prompt("judge")
    (line,) = verbose_lines(ran.recorder.facts)
    assert line == "[INFO] Condition evaluation: 'The score is at least {{env.MIN}}' -> NO"
    assert ran.of("judged")[0]["interpolated"] == "The score is at least 90"


async def test_WB_089_there_is_no_system_prompt_and_temperature_is_0() -> None:
    head = "execution: {provider: acme, model: large, temperature: 1.2, max_tokens: 7}"
    (request,) = (await judged(limit=1, head=head)).models.asked("judge")
    assert (request.system, request.temperature, request.purpose) == (None, 0.0, "judge")


async def test_WB_090_the_calling_workflows_models_judge() -> None:
    work = "execution: {provider: other, model: small}\n" + WORK
    (request,) = (await judged(limit=1, work=work)).models.asked("judge")
    assert (request.provider, request.model) == ("acme", "large")


async def test_WB_090_its_chain_is_asked_in_order() -> None:
    head = "execution: {providers: [{provider: one, model: a}, {provider: two, model: b}]}"
    ran = await judged(limit=1, head=head, judge=[failure(), "YES"])
    assert [request.provider for request in ran.models.asked("judge")] == ["one", "two"]
    assert ran.reason == "condition_met"


async def test_WB_090_the_setting_names_another_judge() -> None:
    settings = {"judge": {"provider": "strict", "model": "judge-1"}}
    (request,) = (await judged(limit=1, settings=settings)).models.asked("judge")
    assert (request.provider, request.model) == ("strict", "judge-1")


async def test_WB_090_a_caller_without_models_leaves_it_to_the_callee() -> None:
    work = "execution: {provider: other, model: small}\n" + WORK
    (request,) = (await judged(limit=1, head="execution: {}", work=work)).models.asked("judge")
    assert (request.provider, request.model) == ("other", "small")


@pytest.mark.parametrize("answer", ["YES", "yes.", "**YES**", '"Yes"', "Yes, it does", "`YES`", "# Yes", "__YES__"])
def test_WB_091_yes(answer: str) -> None:
    assert read_verdict(answer) == "yes"


@pytest.mark.parametrize("answer", ["NO", "no", "No. The word YES is absent", "- **No**", "NO, it does not say YES"])
def test_WB_092_no(answer: str) -> None:
    assert read_verdict(answer) == "no"


@pytest.mark.parametrize("answer", UNCLEAR)
async def test_WB_093_an_unclear_answer_is_asked_for_once_more(answer: str) -> None:
    ran = await judged(limit=1, judge=[answer, "YES"])
    first, second = ran.prompts("judge")
    assert first == second
    assert ran.reason == "condition_met"


async def test_WB_093_two_unclear_answers_are_a_no_with_a_warning() -> None:
    ran = await judged(limit=1, judge=["It is satisfied", "EYES", "YES"])
    assert len(ran.prompts("judge")) == 2
    assert ran.reason == "max_iterations"
    assert ran.of("judged")[0]["verdict"] == "unclear"
    assert "EYES" in ran.warnings[-1]


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        *((text, "yes") for text in ("YES", "yes.", "**YES**", "Yes, it does")),
        *((text, "no") for text in ("NO", "no", "No. The word YES is absent")),
        *((text, "unclear") for text in UNCLEAR),
    ],
)
def test_C2_reading_the_judge(answer: str, verdict: str) -> None:
    assert read_verdict(answer) == verdict


@pytest.mark.parametrize("code", ["server", "timeout"])
async def test_WB_094_a_judge_that_fails_has_not_found_it_met(code: str) -> None:
    main_ = main(limit=3).replace("workflow: work,", "workflow: work, on_failure: halt,")
    ran = await run({"main": main_, "work": WORK}, {"judge": [failure("no reply", code), "NO", "YES"]})
    assert ran.reason == "condition_met"
    assert [body["verdict"] for body in ran.of("judged")] == ["error", "no", "yes"]
    assert len(ran.warnings) == 1
    assert "no reply" in ran.warnings[0]


async def test_WB_013_an_unknown_name_in_the_condition_is_not_asked() -> None:
    ran = await judged("It says {{nobody}}", 2)
    assert ran.prompts("judge") == []
    assert ran.reason == "max_iterations"
    assert [body["verdict"] for body in ran.of("judged")] == ["error", "error"]
    assert all("{{nobody}}" in warning for warning in ran.warnings)


async def test_WB_095_verbose_prints_one_line_for_each_evaluation() -> None:
    ran = await judged(limit=4, judge=["NO", "hm", "hm", failure(), "YES"])
    lines = [line for line in verbose_lines(ran.recorder.facts) if "Condition evaluation" in line]
    assert lines == [
        "[INFO] Condition evaluation: 'The review says PASS' -> NO",
        "[INFO] Condition evaluation: 'The review says PASS' -> NO",
        "[INFO] Condition evaluation: 'The review says PASS' -> NO",
        "[INFO] Condition evaluation: 'The review says PASS' -> YES",
    ]


async def test_WB_096_the_record_keeps_verdict_question_and_answer() -> None:
    ran = await judged(limit=2, work="steps: [{name: work, run: go}]", judge=["No, not yet", "Yes."])
    first, second = ran.of("judged")
    assert (first["verdict"], first["answer"], first["condition"]) == ("no", "No, not yet", UNTIL)
    assert (second["verdict"], second["answer"], second["iteration"]) == ("yes", "Yes.", 2)
    outputs = {body["place"]: body["output"] for body in ran.of("iteration")}
    assert outputs[second["outputRef"]] == "ok"  # the question is made of these two


async def test_WB_096_the_calls_of_steps_and_judges_name_the_providers_answer() -> None:
    script = {
        "work": ModelReply("done", "", "", response_id="w1"),
        "judge": ModelReply("YES", "", "", response_id="j1"),
    }
    ran = await run({"main": main(limit=1), "work": WORK}, script)
    assert [(call["purpose"], call["responseId"]) for call in ran.of("call")] == [("step", "w1"), ("judge", "j1")]


IMPOSSIBLE = {"judge": {"impossible": True}}
REASONED = 'IMPOSSIBLE: "The review says PASS": the file that it asks for was deleted'


async def test_WB_167_twice_in_a_row_with_the_condition_quoted_it_ends_the_loop_and_is_no_success() -> None:
    ran = await judged(limit=5, settings=IMPOSSIBLE, judge=[REASONED, REASONED, "YES"])
    assert [fact["verdict"] for fact in ran.of("judged")] == ["impossible", "impossible"]
    assert ran.reason == "impossible"
    assert kind_of(status_of(ran.reason), ran.reason) == "limit"
    assert "the file that it asks for was deleted" in (ran.outcome.because or "")


async def test_WB_167_the_question_offers_it_where_the_setting_does() -> None:
    offered = "Answer with IMPOSSIBLE and repeat the condition word for word if no further try can meet it."
    ran = await judged(limit=1, settings=IMPOSSIBLE)
    assert ran.prompt("judge").splitlines()[-1] == offered
    assert ran.of("judged")[0]["mayBeImpossible"] is True
    assert offered not in (await judged(limit=1)).prompt("judge")


@pytest.mark.parametrize(
    "answers",
    [
        [REASONED, "NO", REASONED, "NO", REASONED],  # never twice in a row
        ["IMPOSSIBLE", "IMPOSSIBLE"] * 5,  # the condition was never looked at; each is asked once more
        ['IMPOSSIBLE: "The review says FAIL"'] * 10,
    ],
)
async def test_WB_167_less_than_that_goes_on(answers: list[str]) -> None:
    ran = await judged(limit=5, settings=IMPOSSIBLE, judge=answers)
    assert (ran.reason, len(ran.of("judged"))) == ("max_iterations", 5)


async def test_WB_167_without_the_setting_the_word_is_unclear() -> None:
    ran = await judged(limit=2, judge=[REASONED] * 4)
    assert [fact["verdict"] for fact in ran.of("judged")] == ["unclear", "unclear"]
    assert ran.reason == "max_iterations"


async def test_WB_167_a_failed_iteration_between_two_asks_nobody_and_changes_nothing() -> None:
    loop = main(limit=5).replace("until:", "on_failure: continue, until:")
    scripts = {"judge": [REASONED, REASONED], "work": ["a", failure(), "b"]}
    ran = await run({"main": loop, "work": WORK}, scripts, settings=IMPOSSIBLE)
    assert ran.reason == "impossible"


@pytest.mark.parametrize("quoted", ["the review says pass", "The\nreview **says** PASS", "“The review says PASS”."])
def test_WB_167_marks_case_and_line_ends_of_the_quoted_condition_do_not_count(quoted: str) -> None:
    assert read_verdict(f"IMPOSSIBLE - {quoted}", UNTIL) == "impossible"
    assert read_verdict(f"IMPOSSIBLE - {quoted[:-6]}", UNTIL) == "unclear"
