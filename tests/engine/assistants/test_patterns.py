"""Loops that end at a pattern, and loops that end at their limit."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from loop_ls.engine.assistants.views import reason_of
from loop_ls.engine.judges import pattern
from loop_ls.engine.judges.pattern import Pattern, found_in
from loop_ls.formats.assistant.model import Criteria
from tests.engine.assistants.support.alone import Alone, Saying, ran
from tests.engine.assistants.support.project import EngineProject

LONG = "word " * 100


def regex(written: str) -> Criteria:
    return Criteria("regex", written)


async def matches(written: str, output: str) -> bool:
    return (await Pattern(written).judge(output)).verdict == "yes"


async def test_AB_029_a_limit_of_three_starts_three_processes(project: EngineProject) -> None:
    facts = await project.run()
    assert (facts.end["kind"], facts.end["totalIterations"]) == ("completed", 3)
    assert len({call["pid"] for call in project.agent.calls}) == 3


async def test_AB_030_at_the_limit_the_final_output_is_the_last_learning(project: EngineProject) -> None:
    project.agent.say({"text": "first"}, {"text": LONG})
    facts = await project.run()
    assert facts.end["finalOutput"] == LONG[:300].strip()
    assert facts.end["finalOutput"] != LONG


async def test_AB_031_at_the_limit_the_reason_and_the_whole_output_are_told(project: EngineProject) -> None:
    project.agent.say({"text": "first"}, {"text": LONG})
    facts = await project.run()
    assert (facts.end["reason"], facts.end["lastOutput"]) == ("max_iterations", LONG)


async def test_AB_033_a_match_ends_the_loop_with_the_whole_output() -> None:
    output = "All DONE " + LONG
    alone, outcome = await ran(regex("done"), output)
    assert (outcome.reason, outcome.iterations, outcome.output) == ("condition_met", 1, output)
    assert len(alone.runner.asked) == 1


async def test_AB_034_a_match_in_the_second_iteration_counts_two() -> None:
    _, outcome = await ran(regex("DONE|SUCCESS"), "not yet", "a success")
    assert (outcome.reason, outcome.iterations) == ("condition_met", 2)


async def test_AB_035_a_match_in_the_last_iteration_is_no_limit() -> None:
    _, outcome = await ran(regex("done"), "a", "b", LONG + "done")
    assert (reason_of(outcome.reason), outcome.output) == ("criterion_met", LONG + "done")


async def test_AB_036_a_pattern_that_nobody_can_read_never_ends_the_loop() -> None:
    alone, outcome = await ran(regex("("), "(")
    assert (outcome.reason, outcome.iterations, len(alone.runner.asked)) == ("max_iterations", 3, 3)


async def test_AB_037_a_pattern_that_nobody_can_read_is_warned_about_once() -> None:
    alone, _ = await ran(regex("("), "x")
    warnings = alone.recorder.of("warning")
    assert [warning["code"] for warning in warnings] == ["pattern_faulty"]
    kinds = [kind for kind, _ in alone.recorder.facts]
    assert kinds.index("warning") < kinds.index("iteration_started")


async def test_AB_038_the_marks_of_begin_and_end_mean_the_whole_output() -> None:
    assert not await matches("^b$", "a\nb")
    assert await matches("^a", "a\nb")


async def test_AB_039_a_dot_does_not_cross_lines() -> None:
    assert not await matches("a.b", "a\nb")
    assert await matches("a.b", "axb")


async def test_AB_040_the_empty_pattern_is_found_in_the_first_output() -> None:
    _, outcome = await ran(regex(""), "anything")
    assert (outcome.reason, outcome.iterations) == ("condition_met", 1)


async def test_AB_041_only_the_iterations_own_output_is_searched() -> None:
    alone, outcome = await ran(regex("- Iteration 1|progress log"), "nothing", "nothing")
    assert "- Iteration 1: nothing" in alone.runner.messages[1]
    assert (outcome.reason, outcome.iterations) == ("max_iterations", 3)


async def test_AB_042_a_runaway_pattern_holds_up_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    turns, most = 0, 0  # of the event loop, and of those the most during one search

    def searched(*given: Any) -> bool | None:
        nonlocal most
        for _ in range(100):  # on a busy machine the loop may come to nothing in the time of one search
            before = turns
            found = found_in(*given)
            most = max(most, turns - before)
            if most > 1:
                break
        return found

    monkeypatch.setattr(pattern, "found_in", searched)
    alone = Alone(Saying("a" * 5000 + "!"), regex(r"(a|aa)+$"), 1, pattern_limit=0.2)
    running = asyncio.create_task(alone.run())
    while not running.done():
        await asyncio.sleep(0.001)
        turns += 1
    assert (await running).reason == "max_iterations"
    assert most > 1
    assert [warning["code"] for warning in alone.recorder.of("warning")] == ["slow_pattern"]


async def test_AB_043_a_named_group_of_javascript_is_understood() -> None:
    assert await matches("(?<w>done)", "done")
    assert await matches(r"(?<w>ab)\k<w>", "abab")


async def test_AB_033_blanks_and_slashes_belong_to_the_pattern() -> None:
    assert not await matches("/DONE/i", "DONE")
    assert await matches(" done", "all done")
    assert not await matches(" done", "done")


async def test_UP_53_a_word_inside_of_a_word_counts_and_is_warned_about() -> None:
    alone, outcome = await ran(regex("done"), "two scenes", "I abandoned the third")
    assert (outcome.reason, outcome.iterations) == ("condition_met", 2)
    warning = alone.recorder.of("warning")[0]
    assert warning["code"] == "unanchored_pattern"
    assert r"`\bdone\b`" in warning["message"]
    quiet, _ = await ran(regex(r"\bdone\b"), "done")
    assert quiet.recorder.of("warning") == []


async def test_AB_167_a_pattern_may_count_on_the_last_line_only() -> None:
    _, anywhere = await ran(regex("DONE"), "I say DONE when it is.\nNot yet.\n")
    assert anywhere.reason == "condition_met"
    last = Criteria("regex", "^DONE$", last_line=True)
    alone, outcome = await ran(last, "I say DONE when it is.\nNot yet.\n", "all green\nDONE\n\n")
    assert (outcome.reason, len(alone.runner.asked)) == ("condition_met", 2)


async def test_AB_168_a_criterion_may_have_to_be_met_several_times_in_a_row() -> None:
    twice = Criteria("regex", "green", in_a_row=2)
    alone, outcome = await ran(twice, "green", "red", "green", "green", most=9)
    assert (outcome.reason, len(alone.runner.asked)) == ("condition_met", 4)
    assert [judged["verdict"] for judged in alone.recorder.of("judged")] == ["yes", "no", "yes", "yes"]
