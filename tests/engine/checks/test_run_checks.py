"""Declared checks in runs of workflows: when they are decided, what they record and how the run then ends."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from loop_ls.engine.capabilities.derive import capabilities_of
from loop_ls.engine.capabilities.values import Program
from loop_ls.engine.checks.run_checks import spent_within
from loop_ls.engine.core.location import Place
from loop_ls.engine.core.plan import Plan
from loop_ls.engine.events import Event
from loop_ls.formats.registry import WORKFLOW
from loop_ls.testing.models import ScriptedModels
from loop_ls.testing.workflows import Lab, Ran, whole

STEPS = """
    steps:
      - {name: draft, run: draft it}
      - {name: deploy, if: "{{draft}} == 'go'", run: deploy it}
      - {name: report, run: "report {{draft}}"}
"""
LOOP = """
    loops: [{name: develop, workflow: work, max_iterations: 3, until: It says DONE}]
"""
WORK = "steps: [{name: work, run: 'do {{input}}'}]"


async def checked(texts: str | dict[str, str], checks: str, script: dict[str, Any], **plan: Any) -> Ran:
    files = {"main": texts} if isinstance(texts, str) else texts
    return await Lab(files, ScriptedModels(script), plan=plan, declared={"checks": checks}).run()


def verdicts(ran: Ran) -> list[tuple[str, str]]:
    return [(one["check"], one["verdict"]) for one in ran.of("checked")]


async def test_each_check_is_decided_right_after_its_step_and_at_the_end() -> None:
    ran = await checked(
        STEPS,
        """
        assert:
          - {name: titled, on: step.draft, type: starts-with, value: "#"}
          - {name: final, type: contains, value: "{{input}}"}
        """,
        {"draft": "# a", "report": "about the sea"},
        input="the sea",
    )
    kinds = [(kind, body.get("step") or body.get("check")) for kind, body in ran.recorder.facts]
    assert kinds.index(("checked", "titled")) < kinds.index(("step_started", "report"))
    assert verdicts(ran) == [("titled", "pass"), ("final", "pass")]
    assert (ran.reason, ran.output) == ("completed", "about the sea")


async def test_a_failed_check_fails_the_run_and_its_result_stays() -> None:
    ran = await checked(
        STEPS,
        """
        assert:
          - {name: titled, on: step.draft, type: starts-with, value: "#"}
          - {name: short, type: contains, value: x, severity: warn}
          - {name: deployed, on: step.deploy, type: contains, value: ok}
          - {name: maybe, on: step.deploy, type: contains, value: ok, optional: true}
        """,
        {"draft": "a", "report": "the end"},
    )
    assert verdicts(ran) == [("titled", "fail"), ("deployed", "fail"), ("maybe", "pass"), ("short", "fail")]
    assert ran.reason == "verification"
    failure = ran.outcome.failure
    assert failure is not None
    assert (failure.code, ran.output) == ("verifier_fail", "the end")
    assert failure.message.startswith("2 of 4 checks failed: titled: ")


async def test_what_only_warns_fails_nothing() -> None:
    ran = await checked(STEPS, "assert: [{type: contains, value: x, severity: warn}]", {})
    assert verdicts(ran) == [("contains", "fail")]
    assert ran.reason == "completed"


async def test_a_loop_is_not_judged_while_a_check_of_it_fails_and_the_next_iteration_hears_why() -> None:
    ran = await checked(
        {"main": LOOP, "work": WORK},
        "assert: [{name: whole, on: loop.develop, type: not-contains, value: TODO}]",
        {"work": ["one TODO", "two"], "judge": "YES"},
    )
    assert ran.order == ["work", "work", "judge"]
    assert "The previous iteration failed these checks:\n- whole: " in ran.prompts("work")[1]
    assert "failed these checks" not in ran.prompts("work")[0]
    assert verdicts(ran) == [("whole", "fail"), ("whole", "pass")]
    assert ran.reason == "condition_met"  # the last iteration counts


async def test_each_iteration_counts_where_the_check_says_so() -> None:
    ran = await checked(
        {"main": LOOP, "work": WORK},
        "assert: [{on: loop.develop, every: true, type: not-contains, value: TODO}]",
        {"work": ["one TODO", "two"], "judge": "YES"},
    )
    assert [one["iteration"] for one in ran.of("checked")] == [1, 2]
    assert ran.reason == "verification"


async def test_each_item_of_an_iterate_loop_is_checked() -> None:
    loop = """
        loops: [{name: each, mode: iterate, items: '["a", "b"]', workflow: work, max_iterations: 5}]
    """
    ran = await checked(
        {"main": loop, "work": WORK},
        "assert: [{on: loop.each, every: true, type: not-contains, value: TODO}]",
        {"work": ["one TODO", "two"]},
    )
    assert [(one["iteration"], one["verdict"]) for one in ran.of("checked")] == [(1, "fail"), (2, "pass")]
    assert ran.reason == "verification"


async def test_a_step_of_the_same_name_in_a_called_workflow_is_not_meant() -> None:
    callee = "steps: [{name: draft, run: inner}]"
    ran = await checked(
        {"main": "steps: [{name: draft, template: {name: work}}]", "work": callee},
        "assert: [{on: step.draft, type: contains, value: ok}]",
        {},
    )
    assert [one["place"] for one in ran.of("checked")] == ["draft"]


RUBRIC = "assert: [{name: fine, type: llm-rubric, value: 'About {{input}}.', threshold: 0.7}]"
MET = 'It is. {"reason": "it is", "pass": true, "score": 0.8}'


async def test_a_rubric_is_a_model_call_between_marks() -> None:
    ran = await checked(STEPS, RUBRIC, {"report": "out", "vote-1": MET}, input="the sea")
    (asked,) = [one for one in ran.models.requests if one.purpose == "judge"]
    assert "Rubric: About the sea." in asked.prompt
    assert asked.temperature == 0.0
    (fact,) = ran.of("checked")
    assert (fact["verdict"], fact["score"], fact["reason"]) == ("pass", 0.8, "it is")


async def test_a_rubric_below_its_threshold_fails_and_one_without_a_verdict_is_an_error() -> None:
    low = '{"reason": "hardly", "pass": true, "score": 0.6}'
    for answer, verdict in ((low, "fail"), ("PASS", "error"), ('{"pass": true, "score": 1}', "error")):
        ran = await checked(STEPS, RUBRIC, {"vote-1": answer}, input="x")
        assert verdicts(ran) == [("fine", verdict)], answer
        assert ran.reason == "verification"


async def test_a_rubric_that_fails_says_its_score_and_what_was_needed() -> None:
    for passes, told in (
        ("true", "hardly (score 0.6, 0.7 is needed)"),
        ("false", "hardly (no, score 0.6, 0.7 is needed)"),
    ):
        answer = f'{{"reason": "hardly", "pass": {passes}, "score": 0.6}}'
        (fact,) = (await checked(STEPS, RUBRIC, {"vote-1": answer}, input="x")).of("checked")
        assert (fact["verdict"], fact["reason"]) == ("fail", told)


async def test_what_a_run_costs_is_looked_at_after_its_rubrics() -> None:
    cost = RUBRIC.replace("[{", "[{name: cheap, on: run, type: cost, threshold: 1}, {")
    ran = await checked(STEPS, cost, {"vote-1": MET}, input="x")
    assert verdicts(ran) == [("fine", "pass"), ("cheap", "pass")]


@pytest.mark.parametrize(("within", "usd"), [(None, 7.0), (Place("report:1"), 3.0)])
async def test_the_judge_of_a_round_is_paid_by_it_and_the_planner_is_not(within: Place | None, usd: float) -> None:
    calls = (("report:1/draft", "step", 1.0), ("report:1", "judge", 2.0), ("report:1", "planner", 4.0))
    facts = [
        Event("r", number, 0.0, "call", {"place": place, "purpose": purpose, "usd": dollars})
        for number, (place, purpose, dollars) in enumerate(calls, 1)
    ]

    async def facts_of(run_id: str) -> list[Event]:
        return facts

    assert await spent_within(facts_of, "r", within) == usd


async def test_a_judge_that_gives_two_verdicts_has_given_none_and_its_thoughts_are_no_verdict() -> None:
    no = '{"reason": "no", "pass": false, "score": 0}'
    answers = ((f"{MET} Wait: {no}", "error"), (f"{MET} {MET}", "pass"), (f"<think>{MET}</think> {no}", "fail"))
    for answer, verdict in (*answers, (f"Maybe {no}?</think>{MET}", "pass")):
        ran = await checked(STEPS, RUBRIC, {"vote-1": answer}, input="x")
        assert verdicts(ran) == [("fine", verdict)], answer


async def test_a_rubric_may_name_the_model_that_judges() -> None:
    rubric = RUBRIC.replace("threshold", "provider: anthropic, model: strict, threshold")
    ran = await checked(STEPS, rubric, {"vote-1": MET}, input="x")
    (asked,) = [one for one in ran.models.requests if one.purpose == "judge"]
    assert (asked.provider, asked.model) == ("anthropic", "strict")


async def test_most_votes_count() -> None:
    no = '{"reason": "no", "pass": false, "score": 0}'
    rubric = RUBRIC.replace("threshold", "votes: 3, threshold")
    for answers, verdict in (([MET, no, MET], "pass"), ([no, MET, no], "fail"), (["?", "?", MET], "error")):
        script = {f"vote-{number}": answer for number, answer in enumerate(answers, 1)}
        ran = await checked(STEPS, rubric, script, input="x")
        assert verdicts(ran) == [("fine", verdict)], answers


async def test_a_command_gets_the_output_and_says_why(tmp_path: Path) -> None:
    script = "import sys; text = sys.stdin.read(); print('saw', text); sys.exit('no' in text)"
    checks = f'assert: [{{on: step.draft, type: command, value: [{sys.executable}, -c, "{script}"]}}]'
    for output, verdict in (("yes", "pass"), ("no", "fail")):
        ran = await checked(STEPS, checks, {"draft": output}, root=str(tmp_path))
        (fact,) = ran.of("checked")
        assert fact["verdict"] == verdict
        assert f"saw {output}" in fact["reason"]


async def test_a_command_that_takes_longer_than_its_timeout_fails(tmp_path: Path) -> None:
    waiting = f'{sys.executable}, -c, "import sys; sys.stdin.read(); import time; time.sleep(60)"'
    checks = f"assert: [{{on: step.draft, type: command, value: [{waiting}], timeout: 100ms}}]"
    ran = await checked(STEPS, checks, {"draft": "yes"}, root=str(tmp_path))
    (fact,) = ran.of("checked")
    assert fact["verdict"] == "fail"
    assert "longer than 0.1 s" in fact["reason"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("/nonexistent/x", "is not a program"),
        (f'{sys.executable}, -c, "import time; time.sleep(60)"', "longer than 0.1 s"),
        ("sh, -c, kill -9 $$", "by signal 9"),
    ],
)
async def test_a_negated_command_that_does_not_come_to_its_end_decides_nothing(
    words: str, told: str, tmp_path: Path
) -> None:
    limit = ", timeout: 100ms" if "sleep" in words else ""
    checks = f"assert: [{{on: step.draft, type: not-command, value: [{words}]{limit}}}]"
    ran = await checked(STEPS, checks, {"draft": "yes"}, root=str(tmp_path))
    (fact,) = ran.of("checked")
    assert (fact["verdict"], told in fact["reason"]) == ("error", True)
    assert ran.reason != "completed"


async def test_a_negated_command_that_ends_with_a_status_passes(tmp_path: Path) -> None:
    checks = "assert: [{on: step.draft, type: not-command, value: [sh, -c, exit 255]}]"
    ran = await checked(STEPS, checks, {"draft": "yes"}, root=str(tmp_path))
    assert [fact["verdict"] for fact in ran.of("checked")] == ["pass"]


async def test_a_mock_run_starts_no_program_and_says_so() -> None:
    ran = await checked(STEPS, "assert: [{name: built, type: command, value: [no-such-program]}]", {}, mock=True)
    assert verdicts(ran) == []
    assert any("`built` was skipped" in one for one in ran.warnings)
    assert ran.reason == "completed"


async def test_after_a_restart_nothing_is_decided_twice(tmp_path: Path) -> None:
    count = tmp_path / "count"
    words = f"[{sys.executable}, -c, \"open('count', 'a').write('x')\"]"
    checks = f"assert: [{{type: command, value: {words}}}, {{type: contains, value: ok}}]"
    lab = Lab({"main": STEPS}, ScriptedModels(), plan={"root": str(tmp_path)}, declared={"checks": checks})
    first = await lab.run()
    again = await lab.restarted()
    assert count.read_text() == "x"
    assert verdicts(again) == verdicts(first) == [("command", "pass"), ("contains", "pass")]


def test_the_words_of_a_command_are_a_capability_of_the_run() -> None:
    def plan(declared: str) -> Plan:
        texts = {"main.yaml": whole("main", STEPS), "main.checks.yaml": declared}
        details = {"check": {"checks": "main.checks.yaml"}}
        return Plan("r", WORKFLOW, "/p", "main", "main.yaml", texts=texts, keys={"main": "main.yaml"}, details=details)

    with_ = capabilities_of(plan("assert: [{type: command, value: [pytest, -q, '{{input}}']}]"), {})
    without = capabilities_of(plan("assert: []"), {})
    words = ("pytest", "-q", "{{input}}")
    assert with_.program(words, "/p") == Program(words, "/p")
    assert without.program(words, "/p") is None
