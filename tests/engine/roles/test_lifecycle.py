"""Pause, resume, stop, crash: what happens to the stage under way and to those after it (RB 65-73, 126)."""

from __future__ import annotations

import asyncio
from datetime import datetime
from typing import Any

import pytest

from loop_ls.engine.roles.records.sprints import Sprints
from loop_ls.testing.models import SILENCE

from .conftest import SETTINGS, EngineProject

Json = dict[str, Any]


class Held:
    """A stage that waits until it is let go."""

    def __init__(self, project: EngineProject, stage: str = "write") -> None:
        self.house, self.stage, self.times = project, stage, 0
        self.begun, self.go = asyncio.Event(), asyncio.Event()
        inner = project.models.ask

        async def ask(request: Any, *others: Any, **named: Any) -> Any:
            if request.place.endswith(f"/{stage}"):
                self.times += 1
                self.begun.set()
                await self.go.wait()
            return await inner(request, *others, **named)

        project.models.ask = ask  # type: ignore[method-assign]


async def begun(held: Held) -> None:
    await asyncio.wait_for(held.begun.wait(), 60)


async def test_RB_065_a_pause_lets_the_stage_finish_and_starts_no_other(project: EngineProject) -> None:
    held = Held(project)
    run_id = await project.start()
    await begun(held)
    answer = await project.engine.control("pause", run_id)
    assert answer["runs"] == [{"runId": run_id, "status": "paused"}]
    held.go.set()
    done = await project.until(run_id, "stage_completed")
    assert done["stage"] == "write"
    await project.run()  # time for a whole other loop
    assert [fact["stage"] for fact in await project.facts(run_id, "stage_started")] == ["write"]
    await project.engine.control("stop", run_id)


async def test_RB_065_a_pause_in_the_last_stage_holds_back_its_verdict(project: EngineProject) -> None:
    held = Held(project, "judge-it")
    run_id = await project.start()
    await begun(held)
    assert (await project.engine.control("pause", run_id))["ok"]
    held.go.set()
    await project.until(run_id, "stage_completed", stage="judge-it")
    await project.run()  # time for a whole other loop
    before = await project.facts(run_id)
    assert before[-1]["kind"] == "iteration"
    assert not [fact for fact in before if "verdict" in fact]
    assert (await project.state(run_id))["status"] == "paused"
    assert (await project.engine.control("resume", run_id))["ok"]
    assert (await project.ended(run_id))["reason"] == "approved"
    after = (await project.facts(run_id))[len(before) :]
    assert [fact["verdict"] for fact in after if "verdict" in fact]


async def test_RB_065_the_tools_of_a_stage_belong_to_it(project: EngineProject) -> None:
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

    project.models.ask = ask  # type: ignore[method-assign,assignment]
    run_id = await project.start()
    await asyncio.wait_for(first.wait(), 60)
    await project.engine.control("pause", run_id)
    go.set()
    await project.until(run_id, "stage_completed", stage="write")
    assert len(rounds) == 2
    await project.engine.control("stop", run_id)


async def test_RB_066_resume_goes_on_with_the_next_stage_and_repeats_none(project: EngineProject) -> None:
    held = Held(project)
    run_id = await project.start()
    await begun(held)
    await project.engine.control("pause", run_id)
    held.go.set()
    await project.until(run_id, "stage_completed")
    await project.engine.control("resume", run_id)
    state = await project.ended(run_id)
    assert (state["status"], state["iteration"], held.times) == ("completed", 1, 1)
    assert [fact["stage"] for fact in await project.facts(run_id, "stage_started")] == ["write", "judge-it"]


async def test_RB_067_a_completed_loop_cannot_be_paused(project: EngineProject) -> None:
    state = await project.run()
    answer = await project.engine.control("pause", state["runId"])
    assert (answer["ok"], answer["code"]) == (False, "wrong_status")
    assert "completed" in answer["message"]


async def several(project: EngineProject, running: int, paused: int) -> None:
    project.say(write=SILENCE)
    ids = [await project.start() for _ in range(running + paused)]
    for run_id in ids:
        await project.until(run_id, "stage_started")
    for run_id in ids[:paused]:
        await project.engine.control("pause", run_id)


async def test_RB_068_pause_all_counts_the_running_ones(project: EngineProject) -> None:
    await several(project, 3, 1)
    assert len((await project.engine.control("pause", "all"))["runs"]) == 3
    await project.engine.control("stop", "all")


async def test_RB_069_stop_all_takes_paused_ones_too_in_any_letter_case(project: EngineProject) -> None:
    await several(project, 2, 1)
    answer = await project.engine.control("stop", "ALL")
    assert len(answer["runs"]) == 3
    for row in answer["runs"]:
        assert (await project.ended(row["runId"]))["status"] == "cancelled"


async def test_RB_070_resume_all_without_paused_loops_is_no_error(project: EngineProject) -> None:
    assert await project.engine.control("resume", "all") == {"ok": True, "runs": []}


async def test_RB_071_a_stop_cancels_the_task_of_the_stage(project: EngineProject) -> None:
    begun, cancelled = asyncio.Event(), asyncio.Event()

    async def ask(request: Any, *others: Any) -> Any:
        begun.set()
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            cancelled.set()
            raise

    project.models.ask = ask  # type: ignore[method-assign]
    run_id = await project.start()
    await asyncio.wait_for(begun.wait(), 60)
    await project.engine.control("stop", run_id)
    state = await project.ended(run_id)
    await asyncio.wait_for(cancelled.wait(), 60)
    stages = (await project.rows(run_id))[0]["stages"]
    assert (state["status"], [stage["status"] for stage in stages]) == ("cancelled", ["cancelled", "pending"])


async def test_RB_072_a_stage_that_a_crash_cut_off_is_handed_out_again_twice_at_most(project: EngineProject) -> None:
    project.say(write=SILENCE)
    run_id = await project.start()
    for life in range(1, 4):
        async with asyncio.timeout(60):
            while len(await project.facts(run_id, "stage_started")) < life:
                await asyncio.sleep(0.02)
        await project.engine.close()
        project.engines.pop()
        await project.open()
    state = await project.ended(run_id)
    assert state["status"] == "failed"
    assert len(await project.facts(run_id, "stage_started")) == 3
    assert "stopped 3 times" in state["error"]["message"]


async def test_RB_072_what_was_finished_before_a_crash_is_not_done_again(project: EngineProject) -> None:
    project.say(judge_it=["no", SILENCE, "APPROVED"])
    run_id = await project.start()
    async with asyncio.timeout(60):
        while len(await project.facts(run_id, "stage_started")) < 4:
            await asyncio.sleep(0.02)
    await project.engine.close()
    project.engines.pop()
    await project.open()
    state = await project.ended(run_id)
    assert (state["status"], state["reason"], state["iteration"]) == ("completed", "approved", 2)
    assert project.models.order == ["write", "judge-it", "write", "judge-it", "judge-it"]
    assert "Iteration 1: reviewer [completed]: no" in project.models.prompts("judge-it")[-1]


async def test_RB_073_an_error_in_one_loop_does_not_touch_the_others(
    project: EngineProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = Sprints.begin

    async def begin(self: Sprints, iteration: int, iteration_id: str) -> None:
        if ":broken:" in iteration_id:
            raise RuntimeError("out of its mind")
        await usual(self, iteration, iteration_id)

    monkeypatch.setattr(Sprints, "begin", begin)
    project.define("broken")
    held = Held(project)
    good = await project.start()
    await begun(held)
    bad = await project.ended(await project.start("broken"))
    held.go.set()
    assert (bad["status"], (await project.ended(good))["status"]) == ("failed", "completed")


async def test_RB_126_the_next_stage_is_handed_out_at_once(project: EngineProject) -> None:
    state = await project.run()
    facts = await project.facts(state["runId"], "stage_completed", "stage_started")
    ended, began = (datetime.fromisoformat(fact["at"].replace("Z", "+00:00")) for fact in facts[1:3])
    assert [fact["kind"] for fact in facts[1:3]] == ["stage_completed", "stage_started"]
    assert (began - ended).total_seconds() < 10


async def test_nobody_lets_a_loop_go_on_longer_than_its_project_does(project: EngineProject) -> None:
    project.write(".loop-ls.yaml", f"{SETTINGS}limits: {{maxIterations: 3}}\n")
    run_id = (await project.run())["runId"]
    for more in (4, None):
        answer = await project.engine.change(run_id, {"max_iterations": more})
        assert (answer["ok"], answer.get("code")) == (False, "bad_argument")
        assert "`limits.maxIterations`" in answer["message"]
    assert (await project.engine.change(run_id, {"max_iterations": 3}))["ok"]
