"""The timeline of a loop with cases, as people read it: what is said of each round is what happened in it."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest

from loop_ls.contract.run_view.rounds import rounds_of
from loop_ls.engine.enhance.timeline import markdown, timeline
from tests.engine.enhance.evidence.noisy import noisy
from tests.engine.enhance.loops import Loop

PLAN = {1: "Write about {{input}}, carefully"}
OPERATION = "* `set_instructions` `draft`"


def better(prompt: str) -> float:
    return 1.0 if "carefully" in prompt else 0.1


def worse(prompt: str) -> float:
    return 0.0 if "carefully" in prompt else 0.5


def answered(event: Any) -> list[Any]:
    """The fact that the journal of an engine holds of an answer."""
    of = {name: event.get(name) for name in ("round", "question", "planId")}
    match event["kind"]:
        case "edit_sent":
            return [{"kind": "edit_acknowledged", **of}]
        case "loop_paused":
            return [{"kind": "loop_continued", **of, "answer": {"choice": "skip"}, "withEdits": False}]
    return []


async def told(loop: Loop, ended: str = "") -> list[str]:
    """The parts of the Markdown timeline about each round."""
    facts: list[Any] = [each for one in await loop.facts("run-1") for each in (one.wire(), *answered(one.wire()))]
    found = timeline(rounds_of([*facts, {"kind": "completed", "reason": ended}] if ended else facts))
    return markdown(found, "report").split("\n## ")[1:]


async def test_a_plan_that_was_written_stands_in_the_round_whose_trials_decided_it() -> None:
    loop = noisy(3, better, PLAN)
    outcome = await loop.run()
    first, second = await told(loop, outcome.reason)
    assert f"### Proposed\n{OPERATION}" in first
    assert "Tried in round 2." in first
    assert "### Applied" not in first
    assert f"### Applied\n{OPERATION}" in second


async def test_a_plan_that_was_no_better_is_applied_in_no_round() -> None:
    loop = noisy(3, worse, PLAN, {"maxRounds": 2})
    outcome = await loop.run()
    first, second = await told(loop, outcome.reason)
    assert "Tried in round 2." in first
    assert "Not applied: not better in its first trials." in second
    assert "### Applied" not in first + second


async def test_a_plan_that_a_person_leaves_out_is_told_so() -> None:
    loop = noisy(3, better, PLAN, {"pauseBetweenRounds": True, "maxRounds": 2})
    loop.recorder.tell({"choice": "skip"})
    outcome = await loop.run()
    _, second = await told(loop, outcome.reason)
    assert "Not applied: left out by a person." in second


@pytest.mark.parametrize("facts", [[{"kind": "cancelled"}], []])
def test_a_round_that_never_ended_does_not_say_that_nothing_failed(facts: list[Any]) -> None:
    found = rounds_of([{"kind": "round_started", "round": 1, "maxRounds": 3}, *facts])
    text = markdown(timeline(found), "report")
    assert "### What failed\nunknown: the round did not finish" in text


async def test_a_round_without_a_trial_does_not_say_that_nothing_failed() -> None:
    loop = noisy(1, better, PLAN, {"budgetCapUsd": 0.0001})
    with contextlib.suppress(Exception):
        await loop.run()
    [first] = await told(loop, "budget")
    assert "unknown: the round did not finish" in first


def test_a_planner_that_the_budget_did_not_reach_made_no_plan() -> None:
    number = {"round": 1, "maxRounds": 3}
    facts: list[Any] = [
        {"kind": "round_started", **number},
        {"kind": "report_ready", **number, "failures": [{"step": "draft", "kind": "step_error"}], "report": {}},
        {"kind": "planner_started", **number},
        {"kind": "completed", "reason": "budget"},
    ]
    assert timeline(rounds_of(facts))["rounds"][0].get("planned") == "not planned: the budget is used up"


@pytest.mark.parametrize("answer", ["continue", "skip"])
def test_what_a_person_says_in_a_pause_is_told_of_the_round_though_the_next_one_is_clean(answer: str) -> None:
    one, two = {"round": 1, "maxRounds": 3}, {"round": 2, "maxRounds": 3}
    facts: list[Any] = [
        {"kind": "round_started", **one},
        {"kind": "report_ready", **one, "failures": [{"step": "draft", "kind": "step_error"}], "report": {}},
        {"kind": "loop_paused", **one, "question": "q"},
        {"kind": "feedback", "text": "be nicer", "step": "draft", "negative": True},
        {"kind": "feedback", "text": "fine *so* far", "negative": False},
        {"kind": "loop_continued", **one, "answer": {"choice": answer}, "withEdits": answer == "continue"},
        {"kind": "round_started", **two},
        {"kind": "report_ready", **two, "failures": [], "converged": True, "report": {}},
        {"kind": "completed", "reason": "converged"},
    ]
    first, second = markdown(timeline(rounds_of(facts)), "report").split("\n## ")[1:]
    said = "### Said by a person\n* rejected `draft`: be nicer\n* feedback on the round: fine \\*so\\* far"
    assert said in first
    assert "by a person" not in second


def test_what_a_person_says_before_the_first_round_is_told_of_that_round() -> None:
    facts: list[Any] = [
        {"kind": "feedback", "text": "be nicer", "negative": False},
        {"kind": "round_started", "round": 1, "maxRounds": 3},
    ]
    [first] = timeline(rounds_of(facts))["rounds"]
    assert first.get("feedback") == [{"text": "be nicer", "negative": False}]


def test_a_plain_round_says_who_left_its_change_out() -> None:
    number = {"round": 1, "maxRounds": 3}
    facts: list[Any] = [
        {"kind": "round_started", **number},
        {"kind": "report_ready", **number, "failures": [], "report": {}},
        {"kind": "ops_proposed", **number, "ops": [{"op": "set_retries", "target": "draft"}]},
        {"kind": "loop_continued", **number, "answer": {"choice": "skip"}, "withEdits": False},
    ]
    assert "### Applied\nnothing: left out by a person" in markdown(timeline(rounds_of(facts)), "report")


def test_a_view_of_a_round_says_what_people_said_and_whether_it_finished() -> None:
    begun: list[Any] = [{"kind": "round_started", "round": 1, "seq": 1}]
    [running] = rounds_of(begun).all()
    assert "unfinished" not in running.wire()
    no = {"kind": "feedback", "text": "too dry", "step": "draft", "negative": True, "seq": 2}
    [left] = rounds_of([*begun, no, {"kind": "cancelled", "seq": 3}]).all()
    assert left.wire()["unfinished"] is True
    assert left.wire()["feedback"] == [{"text": "too dry", "step": "draft", "negative": True}]
    [said] = rounds_of([*begun, no]).all()
    assert said.last == 2, "the view has to be told of it"
