"""The life of a refine loop."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from loop_ls.testing.models import SILENCE
from loop_ls.testing.workflows import Ran, lab, run
from tests.engine.stopping import ends_stopped

WORK = "steps: [{name: work, run: 'do it'}]"
TWO = "steps: [{name: write, run: 'write'}, {name: review, needs: [write], run: '{{write}}'}]"


def looped(limit: int, more: str = "", after: bool = True) -> str:
    end = "steps: [{name: end, needs: [l], run: '{{l}}'}]" if after else ""
    return f"""
        loops: [{{name: l, workflow: work, max_iterations: {limit}, until: "It says DONE"{more}}}]
        {end}
    """


async def loop(limit: int, more: str = "", callee: str = WORK, **script: Any) -> Ran:
    return await run({"main": looped(limit, more), "work": callee}, script)


async def test_WB_067_an_iteration_goes_variables_arguments_workflow_output_condition() -> None:
    ran = await loop(
        2,
        ", with: {a: '{{loop.iteration}}'}",
        "steps: [{name: work, run: '{{a}}'}]",
        work=["A", "B"],
        judge=["NO", "NO"],
    )
    assert ran.order == ["work", "judge", "work", "judge", "end"]
    assert ran.prompts("work") == ["1", "2"]
    kinds = [kind for kind, body in ran.recorder.facts if kind in ("iteration_started", "iteration", "judged")]
    assert kinds == ["iteration_started", "iteration", "judged"] * 2
    assert "\nB\n" in ran.prompts("judge")[1]


async def test_WB_068_yes_ends_the_loop() -> None:
    ran = await loop(5, work=["A", "B", "C"], judge=["NO", "YES"])
    assert len(ran.prompts("work")) == 2
    assert len(ran.prompts("judge")) == 2
    assert (ran.completed("l")["reason"], ran.reason) == ("condition_met", "condition_met")
    assert ran.prompt("end") == "B"


async def test_WB_069_the_limit_ends_the_loop_and_the_workflow_goes_on() -> None:
    ran = await loop(3, work=["A", "B", "C"], judge="NO")
    done = ran.completed("l")
    assert (done["reason"], done["totalIterations"], done["output"]) == ("max_iterations", 3, "C")
    assert ran.prompt("end") == "C"
    assert ran.reason == "max_iterations"  # a limit is no success, even if steps came after it


async def test_WB_070_yes_after_the_last_iteration_counts() -> None:
    ran = await loop(3, judge=["NO", "NO", "YES"])
    assert ran.completed("l")["reason"] == "condition_met"
    assert len(ran.prompts("judge")) == 3


async def test_WB_071_one_iteration_has_one_question() -> None:
    ran = await loop(1, judge="NO")
    assert ran.order == ["work", "judge", "end"]


@pytest.mark.parametrize("iterations", [1, 2, 4])
async def test_WB_072_calls_are_those_of_the_callee_and_one_more(iterations: int) -> None:
    answers = ["NO"] * (iterations - 1) + ["YES"]
    ran = await run({"main": looped(5, after=False), "work": TWO}, {"judge": answers})
    assert len(ran.models.requests) == 3 * iterations
    assert len(ran.of("call")) == 3 * iterations


async def test_WB_073_iterations_do_not_see_each_others_steps() -> None:
    callee = """
        steps:
          - {name: work, run: "[{{step.later}}]"}
          - {name: later, needs: [work], run: "{{work}}"}
    """
    main = "loops: [{name: l, workflow: work, max_iterations: 2, until: 'It says DONE', with: {a: b}}]"
    ran = await run({"main": main, "work": callee.replace("{{step.later}}", "{{input}}")}, {"judge": "NO"})
    assert ran.prompts("work") == ["[a: b]", "[a: b]"]
    other = "steps: [{name: work, run: '{{earlier}}'}]"
    ran = await run(
        {"main": main.replace("a: b", "earlier: '{{loop.last.output}}'"), "work": other},
        {
            "judge": "NO",
            "work": ["A", "B"],
        },
    )
    assert ran.prompts("work") == ["", "A"]


async def test_WB_074_a_callee_without_a_result_is_a_failed_iteration() -> None:
    callee = "steps: [{name: work, if: 'false', run: x}]"
    ran = await run({"main": looped(2, ", on_failure: continue"), "work": callee}, {"judge": "YES"})
    assert [body["iteration"] for body in ran.of("iteration_failed")] == [1, 2]
    assert ran.prompts("judge") == []


async def test_WB_075_parallel_has_no_effect_in_refine_mode() -> None:
    ran = await loop(3, ", parallel: true, max_workers: 3", work=["A", "B", "C"], judge="NO")
    assert ran.order == ["work", "judge", "work", "judge", "work", "judge", "end"]
    assert ran.models.most_at_once == 1


async def test_WB_076_an_iteration_over_time_is_a_failed_one() -> None:
    begun = asyncio.get_running_loop().time()
    ran = await loop(2, ", timeout_per_item: 30s, on_failure: continue", work=[SILENCE, "B"], judge="NO")
    assert asyncio.get_running_loop().time() - begun == pytest.approx(30, abs=0.5)
    (failed,) = ran.of("iteration_failed")
    assert (failed["iteration"], failed["error"]["code"]) == (1, "timeout")
    assert ran.completed("l")["output"] == "B"


async def test_WB_076_a_loop_over_its_total_time_fails_the_workflow() -> None:
    begun = asyncio.get_running_loop().time()
    ran = await loop(9, ", total_timeout: 1m, on_failure: continue", work=["A", SILENCE], judge="NO")
    assert asyncio.get_running_loop().time() - begun == pytest.approx(60, abs=0.5)
    assert ran.reason == "timeout"
    assert ran.of("step_failed")[0]["reason"] == "timeout"
    assert ran.prompts("end") == []


async def test_WB_077_a_stop_ends_the_loop_and_no_later_step_runs() -> None:
    it = lab({"main": looped(3), "work": WORK}, {"work": ["A", SILENCE], "judge": "NO"})
    running = asyncio.ensure_future(it.run())
    while len(it.models.asked("work")) < 2:
        await asyncio.sleep(0)
    it.recorder.stop()
    await ends_stopped(running)  # what the engine records as cancelled
    assert it.models.order == ["work", "judge", "work"]
    assert [body["output"] for body in it.recorder.of("iteration")] == ["A"]
    assert it.models.running == 0


async def test_WB_166_a_pause_waits_before_the_next_call() -> None:
    it = lab({"main": looped(2), "work": TWO}, {"judge": "NO"})
    it.recorder.pause()
    running = asyncio.ensure_future(it.run())
    await asyncio.sleep(5)
    assert it.models.requests == []
    it.recorder.resume()
    assert (await running).reason == "max_iterations"


async def test_WB_162_a_restart_repeats_no_finished_call() -> None:
    it = lab({"main": looped(3), "work": TWO}, {"judge": ["NO", "NO", "YES"]})
    ran = await it.run()
    again = await it.restarted()
    assert again.recorder.worked == []
    assert again.recorder.facts == ran.recorder.facts
    assert again.outcome == ran.outcome


async def test_WB_069_a_limit_given_at_the_start_replaces_that_of_the_file() -> None:
    ran = await run({"main": looped(5, after=False), "work": WORK}, {"judge": "NO"}, max_iterations=2)
    assert ran.outcome.iterations == 2


async def test_UP_46_no_loop_of_a_project_passes_its_ceiling_whatever_file_and_start_say() -> None:
    files = {"main": looped(5), "work": WORK}
    ran = await run(files, {"judge": "NO"}, settings={"limits": {"maxIterations": 2}}, max_iterations=4)
    assert len(ran.prompts("work")) == 2
    assert ran.reason == "max_iterations"
