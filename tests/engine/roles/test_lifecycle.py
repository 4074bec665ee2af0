"""Pause, resume, stop, crash: what happens to the stage under way and to those after it (RB 65-73, 126)."""

from __future__ import annotations

import asyncio
from datetime import datetime
from typing import Any

import pytest

from loop_ls.engine.roles.records.sprints import Sprints
from loop_ls.testing.models import SILENCE

from .conftest import House

Json = dict[str, Any]


class Held:
    """A stage that waits until it is let go."""

    def __init__(self, house: House, stage: str = "write") -> None:
        self.house, self.stage, self.times = house, stage, 0
        self.begun, self.go = asyncio.Event(), asyncio.Event()
        inner = house.models.ask

        async def ask(request: Any, *others: Any, **named: Any) -> Any:
            if request.place.endswith(f"/{stage}"):
                self.times += 1
                self.begun.set()
                await self.go.wait()
            return await inner(request, *others, **named)

        house.models.ask = ask  # type: ignore[method-assign]


async def begun(held: Held) -> None:
    await asyncio.wait_for(held.begun.wait(), 10)


async def test_RB_065_a_pause_lets_the_stage_finish_and_starts_no_other(house: House) -> None:
    held = Held(house)
    run_id = await house.start()
    await begun(held)
    answer = await house.engine.control("pause", run_id)
    assert answer["runs"] == [{"runId": run_id, "status": "paused"}]
    held.go.set()
    done = await house.until(run_id, "stage_completed")
    assert done["stage"] == "write"
    await house.run()  # time for a whole other loop
    assert [fact["stage"] for fact in await house.facts(run_id, "stage_started")] == ["write"]
    await house.engine.control("stop", run_id)


async def test_RB_065_the_tools_of_a_stage_belong_to_it(house: House) -> None:
    """A pause in the middle of a conversation waits for its last word, not for the next call."""
    from loop_ls.engine.core.messages import ToolCall
    from loop_ls.engine.core.ports import ModelReply

    first, go, rounds = asyncio.Event(), asyncio.Event(), []

    async def ask(request: Any, *others: Any) -> ModelReply:
        rounds.append(request.place)
        if not request.turns:
            first.set()
            await go.wait()
            call = ToolCall("1", "file_list", {}, "{}")
            return ModelReply("", request.provider, request.model, calls=(call,))
        return ModelReply("APPROVED", request.provider, request.model)

    house.models.ask = ask  # type: ignore[method-assign,assignment]
    run_id = await house.start()
    await asyncio.wait_for(first.wait(), 10)
    await house.engine.control("pause", run_id)
    go.set()
    await house.until(run_id, "stage_completed", stage="write")
    assert len(rounds) == 2
    await house.engine.control("stop", run_id)


async def test_RB_066_resume_goes_on_with_the_next_stage_and_repeats_none(house: House) -> None:
    held = Held(house)
    run_id = await house.start()
    await begun(held)
    await house.engine.control("pause", run_id)
    held.go.set()
    await house.until(run_id, "stage_completed")
    await house.engine.control("resume", run_id)
    state = await house.ended(run_id)
    assert (state["status"], state["iteration"], held.times) == ("completed", 1, 1)
    assert [fact["stage"] for fact in await house.facts(run_id, "stage_started")] == ["write", "judge-it"]


async def test_RB_067_a_completed_loop_cannot_be_paused(house: House) -> None:
    state = await house.run()
    answer = await house.engine.control("pause", state["runId"])
    assert (answer["ok"], answer["code"]) == (False, "wrong_status")
    assert "completed" in answer["message"]


async def several(house: House, running: int, paused: int) -> None:
    house.say(write=SILENCE)
    ids = [await house.start() for _ in range(running + paused)]
    for run_id in ids:
        await house.until(run_id, "stage_started")
    for run_id in ids[:paused]:
        await house.engine.control("pause", run_id)


async def test_RB_068_pause_all_counts_the_running_ones(house: House) -> None:
    await several(house, 3, 1)
    assert len((await house.engine.control("pause", "all"))["runs"]) == 3
    await house.engine.control("stop", "all")


async def test_RB_069_stop_all_takes_paused_ones_too_in_any_letter_case(house: House) -> None:
    await several(house, 2, 1)
    answer = await house.engine.control("stop", "ALL")
    assert len(answer["runs"]) == 3
    for row in answer["runs"]:
        assert (await house.ended(row["runId"]))["status"] == "cancelled"


async def test_RB_070_resume_all_without_paused_loops_is_no_error(house: House) -> None:
    assert await house.engine.control("resume", "all") == {"ok": True, "runs": []}


async def test_RB_071_a_stop_cancels_the_task_of_the_stage(house: House) -> None:
    cancelled = asyncio.Event()

    async def ask(request: Any, *others: Any) -> Any:
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            cancelled.set()
            raise

    house.models.ask = ask  # type: ignore[method-assign]
    run_id = await house.start()
    await house.until(run_id, "stage_started")
    await house.engine.control("stop", run_id)
    state = await house.ended(run_id)
    await asyncio.wait_for(cancelled.wait(), 5)
    stages = (await house.rows(run_id))[0]["stages"]
    assert (state["status"], [stage["status"] for stage in stages]) == ("cancelled", ["cancelled", "pending"])


async def test_RB_072_a_stage_that_a_crash_cut_off_is_handed_out_again_twice_at_most(house: House) -> None:
    house.say(write=SILENCE)
    run_id = await house.start()
    for life in range(1, 4):
        async with asyncio.timeout(10):
            while len(await house.facts(run_id, "stage_started")) < life:
                await asyncio.sleep(0.02)
        await house.engine.close()
        house.engines.pop()
        await house.open()
    state = await house.ended(run_id)
    assert state["status"] == "failed"
    assert len(await house.facts(run_id, "stage_started")) == 3
    assert "went away 3 times" in state["error"]["message"]


async def test_RB_072_what_was_finished_before_a_crash_is_not_done_again(house: House) -> None:
    house.say(judge_it=["no", SILENCE, "APPROVED"])
    run_id = await house.start()
    async with asyncio.timeout(10):
        while len(await house.facts(run_id, "stage_started")) < 4:
            await asyncio.sleep(0.02)
    await house.engine.close()
    house.engines.pop()
    await house.open()
    state = await house.ended(run_id)
    assert (state["status"], state["reason"], state["iteration"]) == ("completed", "approved", 2)
    assert house.models.order == ["write", "judge-it", "write", "judge-it", "judge-it"]
    assert "Iteration 1: reviewer [completed]: no" in house.models.prompts("judge-it")[-1]


async def test_RB_073_an_error_in_one_loop_does_not_touch_the_others(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = Sprints.begin

    async def begin(self: Sprints, iteration: int, iteration_id: str) -> None:
        if iteration_id.startswith("broken/"):
            raise RuntimeError("out of its mind")
        await usual(self, iteration, iteration_id)

    monkeypatch.setattr(Sprints, "begin", begin)
    house.define("broken")
    held = Held(house)
    good = await house.start()
    await begun(held)
    bad = await house.ended(await house.start("broken"))
    held.go.set()
    assert (bad["status"], (await house.ended(good))["status"]) == ("failed", "completed")


async def test_RB_126_the_next_stage_is_handed_out_at_once(house: House) -> None:
    state = await house.run()
    facts = await house.facts(state["runId"], "stage_completed", "stage_started")
    ended, began = (datetime.fromisoformat(fact["at"].replace("Z", "+00:00")) for fact in facts[1:3])
    assert [fact["kind"] for fact in facts[1:3]] == ["stage_completed", "stage_started"]
    assert (began - ended).total_seconds() < 1.0
