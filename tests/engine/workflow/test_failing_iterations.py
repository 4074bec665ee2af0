"""What a failing iteration does to its loop."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from loop_ls.testing.models import failure
from loop_ls.testing.workflows import Ran, lab, run
from tests.engine.stopping import ends_stopped

WORK = "steps: [{name: work, run: '{{loop.iteration}} {{input}}'}]"


def main(limit: int, more: str = "") -> str:
    return f"""
        loops: [{{name: l, workflow: work, max_iterations: {limit}, until: "It says DONE", accumulate: all{more}}}]
        steps: [{{name: end, needs: [l], run: "{{{{l}}}}|{{{{all}}}}"}}]
    """


async def loop(limit: int, more: str = "", **script: Any) -> Ran:
    return await run({"main": main(limit, more), "work": WORK}, {"judge": "NO", **script})


async def test_WB_078_halt_fails_the_workflow_and_keeps_the_record() -> None:
    ran = await loop(3, ", on_failure: halt", work=["A", failure("no luck"), "C"])
    assert ran.reason == "error"
    assert ran.prompts("end") == []
    assert [body["output"] for body in ran.of("iteration")] == ["A"]
    assert "no luck" in ran.of("step_failed")[-1]["error"]["message"]
    assert ran.outcome.failure is not None
    assert "no luck" in ran.outcome.failure.message


async def test_WB_079_halt_is_what_happens_when_nothing_is_written() -> None:
    ran = await loop(3, work=["A", failure(), "C"])
    assert (ran.reason, len(ran.prompts("work"))) == ("error", 2)


async def test_WB_080_continue_uses_the_iteration_up() -> None:
    ran = await loop(3, ", on_failure: continue", work=["A", failure(), "C"])
    assert ran.order == ["work", "judge", "work", "work", "judge", "end"]
    assert ran.prompt("end") == "C|A---C"

    ran = await loop(3, ", on_failure: continue", work=["A", failure(), failure()])
    assert ran.prompt("end") == "A|A"


async def test_WB_081_nothing_but_failures_is_an_empty_output_and_a_warning() -> None:
    ran = await loop(3, ", on_failure: continue", work=failure())
    done = ran.completed("l")
    assert (done["reason"], done["output"], done["totalIterations"]) == ("max_iterations", "", 3)
    assert ran.prompt("end") == "|"
    assert len(ran.warnings) == 1
    assert "no iteration of `l` succeeded" in ran.warnings[0]


async def test_WB_082_a_further_try_is_the_same_iteration() -> None:
    ran = await loop(3, ", on_failure: retry", work=["A", failure(), "B", "C"])
    assert ran.prompts("work") == ["1 ", "2 A", "2 A", "3 B"]
    assert [body["output"] for body in ran.of("iteration")] == ["A", "B", "C"]
    assert ran.completed("l")["totalIterations"] == 3


@pytest.mark.parametrize(("written", "tries"), [("", 4), (", max_retries: 1", 2), (", max_retries: 0", 1)])
async def test_WB_083_tries_are_limited(written: str, tries: int) -> None:
    ran = await loop(3, f", on_failure: retry{written}", work=failure())
    assert len(ran.prompts("work")) == tries
    assert len(ran.of("retrying")) == tries - 1
    assert (ran.reason, ran.prompts("end")) == ("error", [])


async def test_WB_084_tries_keep_their_distance() -> None:
    begun = asyncio.get_running_loop().time()
    ran = await loop(1, ", on_failure: retry, retry_delay: 2s", work=[failure(), failure(), "A"])
    assert asyncio.get_running_loop().time() - begun == pytest.approx(4, abs=0.1)
    assert ran.recorder.slept == [2.0, 2.0]
    assert [body["delay"] for body in ran.of("retrying")] == [2.0, 2.0]


async def test_WB_084_a_stop_ends_the_wait_at_once() -> None:
    it = lab({"main": main(1, ", on_failure: retry, retry_delay: 2h"), "work": WORK}, {"work": failure()})
    running = asyncio.ensure_future(it.run())
    while not it.recorder.slept:
        await asyncio.sleep(0)
    it.recorder.stop()
    await ends_stopped(running)
    assert asyncio.get_running_loop().time() < 1


async def test_WB_085_every_iteration_has_its_full_number_of_tries() -> None:
    answers = ["A", failure(), failure(), "B", failure(), failure(), "C"]
    ran = await loop(3, ", on_failure: retry, max_retries: 2", work=answers)
    assert [body["output"] for body in ran.of("iteration")] == ["A", "B", "C"]
    assert ran.reason == "max_iterations"
