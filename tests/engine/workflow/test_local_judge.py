"""Conditions that are decided without a model, where `judge: {local: true}` asks for it."""

from __future__ import annotations

from typing import Any

import pytest

from loop_ls.engine.context.scope import Scope
from loop_ls.engine.context.workflow_library import Library
from loop_ls.engine.judges import local
from loop_ls.engine.runs.preflight import refusal
from loop_ls.formats.workflow.local_condition import read_local
from loop_ls.testing.workflows import Ran, run, whole

WORK = "steps: [{name: work, run: 'do it'}]"
LOCAL = {"judge": {"local": True}}


def holds(condition: str, output: str) -> bool:
    found = read_local(condition)
    assert found is not None, f"{condition} is not read as local"
    return local.holds(found, output, Scope())


@pytest.mark.parametrize(
    ("condition", "met", "not_met"),
    [
        ("The output says PASS", "Verdict: PASS.", "BYPASS"),
        ("The output says PASS", "**PASS**", "pass"),
        ("The review contains APPROVED", "it is APPROVED", "UNAPPROVED_YET"),
        ("The response includes COMPLETE.", "COMPLETE", "completed"),
        ("Output contains exactly the word COMPLETE", "is COMPLETE now", "INCOMPLETE"),
        ('The output contains "all good"', "so all good here", "All good"),
        ("The reply does not contain `TODO`", "done", "one TODO left"),
        ("The answer starts with DONE", "  DONE: yes", "not DONE"),
        ("The answer ends with 'the end'", "this is the end\n", "the end is near"),
        ("The output is READY", " READY\n", "READY now"),
        ("The output contains the line READY", "so:\n READY \n", "READY or not"),
        ("The output says PASS or APPROVED", "APPROVED", "FAIL"),
        ("The output mentions RED, GREEN and BLUE", "BLUE GREEN RED", "RED GREEN"),
        ("The output says ALL TESTS PASS", "ALL  TESTS\nPASS", "ALL PASS"),
        ("It must not contain ERROR", "fine", "an ERROR"),
    ],
)
def test_WB_158_a_named_text_is_looked_for(condition: str, met: str, not_met: str) -> None:
    assert holds(condition, met)
    assert not holds(condition, not_met)


@pytest.mark.parametrize(
    "condition",
    [
        "All tests pass",
        "The output contains a bug fix",
        "The output says PASS AND the code is clean",
        "The output says PASS AND DONE",
        "The score is above 90",
        "The output {{loop.output}} is correct",
        "The title contains DRAFT",
        "No issues found",
        "The output says PASS, if it can",
        "The output contains RED or GREEN and BLUE",
    ],
)
def test_WB_158_what_takes_judgement_is_not_decided_here(condition: str) -> None:
    assert read_local(condition) is None


async def looped(until: str, *outputs: str, settings: dict[str, Any] | None = None, head: str = "") -> Ran:
    main = f"{head}\nloops:\n  - name: l\n    workflow: work\n    max_iterations: 3\n    until: {until}\n"
    script = {"work": list(outputs), "judge": "YES"}
    return await run({"main": main, "work": WORK}, script, settings=LOCAL if settings is None else settings)


async def test_WB_158_it_asks_nobody_and_says_so() -> None:
    ran = await looped("The output says DONE", "no", "DONE")
    assert ran.order == ["work", "work"]
    assert ran.reason == "condition_met"
    assert [(body["verdict"], body["local"]) for body in ran.of("judged")] == [("no", True), ("yes", True)]


async def test_WB_158_the_text_to_look_for_may_be_a_variable() -> None:
    ran = await looped("'The output says {{env.MARK}}'", "no", "SHIP", head="env: {MARK: SHIP}")
    assert (ran.reason, ran.outcome.iterations) == ("condition_met", 2)
    assert ran.of("judged")[0]["interpolated"] == "The output says SHIP"


async def test_WB_158_a_value_cannot_turn_the_condition_into_another_one() -> None:
    ran = await looped("'The output says {{env.MARK}}'", "B", 'A" or "B', head="env: {MARK: 'A\" or \"B'}")
    assert ran.outcome.iterations == 2


async def test_WB_158_an_empty_text_to_look_for_is_never_met() -> None:
    ran = await looped("'The output says {{env.MARK}}'", "anything", head="env: {MARK: ''}")
    assert ran.reason == "max_iterations"
    assert "empty string" in ran.warnings[0]


async def test_WB_158_without_the_setting_a_model_is_asked() -> None:
    ran = await looped("The output says DONE", "no", settings={})
    assert ran.order == ["work", "judge"]


async def test_WB_158_what_takes_judgement_goes_to_the_model_that_judge_names() -> None:
    ran = await looped("All is well", "x", settings={"judge": {"local": True, "provider": "p", "model": "m"}})
    assert ran.models.asked("judge")[0].provider == "p"


def test_WB_158_a_condition_that_nobody_can_decide_is_refused_at_the_start() -> None:
    files = {
        "main.yaml": whole("main", "steps: [{name: t, template: {name: inner}}]"),
        "inner.yaml": whole("inner", "loops: [{name: l, workflow: work, max_iterations: 3, until: All is well}]"),
        "work.yaml": whole("work", WORK),
    }
    library = Library(files, {path.removesuffix(".yaml"): path for path in files})
    found = refusal(library, "main", LOCAL)
    assert found is not None
    assert found.code == "bad_argument"
    assert "`until` of `l` needs a model" in found.message
    assert refusal(library, "main", {}) is None
