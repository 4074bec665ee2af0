"""Elements of one workflow at the same time."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from loop_ls.testing.models import SILENCE, failure
from loop_ls.testing.workflows import Lab, Ran, lab
from tests.engine.stopping import ends_stopped

WORK = "steps: [{name: work, run: 'do it'}]"


def parallel(body: str, more: str = "", waits: dict[str, float] | None = None, **script: Any) -> Lab:
    head = f"execution: {{provider: acme, model: large, parallel: true{more}}}\n"
    it = lab({"main": head + body, "work": WORK}, {"judge": "NO", **script})
    it.models.wait = lambda request: (waits or {}).get(request.place, 0.0)
    return it


async def ran(body: str, more: str = "", waits: dict[str, float] | None = None, **script: Any) -> Ran:
    return await parallel(body, more, waits, **script).run()


FIVE = "steps: [" + ", ".join(f"{{name: s{n}, run: x}}" for n in range(5)) + "]"


async def test_WB_141_never_more_than_the_workers() -> None:
    waits = {f"s{n}": 1.0 for n in range(5)}
    done = await ran(FIVE, ", max_workers: 2", waits)
    assert done.models.most_at_once == 2
    assert done.order == ["s0", "s1", "s2", "s3", "s4"]
    assert asyncio.get_running_loop().time() == pytest.approx(3)
    done = await ran(FIVE, "", waits)
    assert done.models.most_at_once == 3


async def test_WB_141_nor_where_one_ends_long_before_the_others() -> None:
    waits = {"s0": 0.1, **{f"s{n}": 1.0 for n in range(1, 5)}}
    done = await ran(FIVE, ", max_workers: 2", waits)
    assert done.models.most_at_once == 2
    assert asyncio.get_running_loop().time() == pytest.approx(2.1)  # the other worker has ended two by then


async def test_WB_142_a_step_begins_only_after_what_it_needs_has_ended() -> None:
    body = "steps: [{name: a, run: x}, {name: b, needs: [a], run: '{{a}}'}, {name: c, run: x}]"
    done = await ran(body, "", {"a": 5.0}, a="A")
    assert done.order == ["a", "c", "b"]
    assert done.prompt("b") == "A"


async def test_WB_143_a_loop_takes_one_slot_and_can_be_needed() -> None:
    body = """
steps: [{name: a, needs: [l], run: "{{l}}"}, {name: b, run: x}, {name: c, run: x}]
loops: [{name: l, workflow: work, max_iterations: 2, until: "It says DONE"}]
"""
    done = await ran(body, ", max_workers: 2", {"l/1/work": 1.0, "l/2/work": 1.0, "b": 9.0, "c": 9.0}, work=["A", "B"])
    assert done.models.most_at_once == 2
    assert done.prompt("a") == "B"


BROKEN = (
    "steps: [{name: bad, run: x}, {name: slow, run: x}, {name: later, run: x}, {name: after, needs: [bad], run: x}]"
)
TIMES = {"bad": 1.0, "slow": 10.0}


async def test_WB_144_cancel_all_ends_what_runs() -> None:
    for policy in ("", ", on_error: cancel_all", ", on_error: halt"):
        begun = asyncio.get_running_loop().time()
        done = await ran(BROKEN, ", max_workers: 2" + policy, TIMES, bad=failure("no luck"))
        assert asyncio.get_running_loop().time() - begun == pytest.approx(1)
        assert done.order == ["bad", "slow"]
        assert done.reason == "error"
        assert [(body["step"], body["error"]["code"]) for body in done.of("step_failed")] == [
            ("bad", "server"),
            ("slow", "cancelled"),
        ]


async def test_WB_144_complete_running_lets_it_end() -> None:
    done = await ran(BROKEN, ", max_workers: 2, on_error: complete_running", TIMES, bad=failure())
    assert asyncio.get_running_loop().time() == pytest.approx(10)
    assert done.order == ["bad", "slow"]
    assert done.completed("slow")["output"] == "ok"
    assert done.reason == "error"


@pytest.mark.parametrize("policy", ["continue", "complete_running"])
async def test_WB_145_of_several_failures_the_first_is_that_of_the_run(policy: str) -> None:
    broken = {"bad": failure("bad luck"), "slow": failure("slow luck")}
    done = await ran(BROKEN, f", max_workers: 2, on_error: {policy}", TIMES, **broken)
    assert [body["step"] for body in done.of("step_failed")] == ["bad", "slow"]
    assert done.outcome.failure is not None
    assert "bad luck" in done.outcome.failure.message


async def test_WB_145_continue_runs_everything_else_and_fails_at_the_end() -> None:
    done = await ran(
        BROKEN.replace("after, needs: [bad], run: x", "after, needs: [bad], run: '[{{bad}}]'"),
        ", on_error: continue",
        TIMES,
        bad=failure("no luck"),
    )
    assert sorted(done.order) == ["after", "bad", "later", "slow"]
    assert done.prompt("after") == "[]"
    assert done.reason == "error"
    assert done.outcome.failure is not None
    assert "no luck" in done.outcome.failure.message


async def test_WB_146_a_steps_own_continue_is_no_failure() -> None:
    done = await ran(BROKEN.replace("bad, run: x", "bad, on_failure: continue, run: x", 1), "", TIMES, bad=failure())
    assert sorted(done.order) == ["after", "bad", "later", "slow"]
    assert done.reason == "completed"


async def test_WB_142_loop_variables_do_not_hang_on_who_was_quicker() -> None:
    body = """
steps: [{name: end, needs: [l, m], run: "{{loop.iteration}}"}]
loops:
  - {name: l, workflow: work, max_iterations: 2, until: "It says DONE"}
  - {name: m, workflow: work, max_iterations: 1, until: "It says DONE"}
"""
    for slow in ("l/1/work", "m/1/work"):
        assert (await ran(body, "", {slow: 50.0})).prompt("end") == "1"


async def test_WB_077_a_stop_ends_everything_that_runs() -> None:
    it = parallel(FIVE, "", s0=SILENCE, s1=SILENCE, s2=SILENCE)
    running = asyncio.ensure_future(it.run())
    while it.models.running < 3:
        await asyncio.sleep(0)
    it.recorder.stop()
    await ends_stopped(running)
    assert it.models.running == 0
    assert it.models.order == ["s0", "s1", "s2"]


async def test_WB_162_a_restart_repeats_no_finished_call() -> None:
    it = parallel(FIVE, "", {"s0": 3.0, "s1": 2.0, "s2": 1.0})
    first = await it.run()
    again = await it.restarted()
    assert again.recorder.worked == []
    assert again.outcome == first.outcome
