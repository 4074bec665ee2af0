"""What each stage was told, read from the record afterwards: to the letter, and nothing is written for it."""

from __future__ import annotations

import asyncio
from typing import Any

from loop_ls.engine.core.messages import ToolCall
from loop_ls.engine.core.ports import ModelReply, ModelRequest

from .conftest import EngineProject


async def prompts(project: EngineProject, run_id: str, place: str = "") -> list[dict[str, Any]]:
    answer = await project.engine.prompts(run_id, place)
    assert answer["ok"], answer
    return list(answer["prompts"])


def asked(project: EngineProject) -> list[tuple[str, str, str | None]]:
    return [(one.place, one.prompt, one.system) for one in project.models.requests if not one.turns]


def shown(rows: list[dict[str, Any]]) -> list[tuple[str, str, str | None]]:
    return [(row["place"], row["prompt"], row.get("system")) for row in rows]


async def test_RB_137_stages_and_their_judge_show_what_they_were_asked(project: EngineProject) -> None:
    project.define(
        "goal", termination_condition={"type": "goal_bound", "value": {"goal_prompt": "Good.", "max_iterations": 2}}
    )
    project.say(write=["one", "two"], judge_it="fine", judge=['{"achieved": false, "rationale": "more"}', "YES"])
    run_id = await project.start("goal")
    await project.ended(run_id)
    before = await project.records_of("artifacts"), await project.records_of("sprints"), await project.facts(run_id)
    found = await prompts(project, run_id)
    assert shown(found) == asked(project)
    assert [row["purpose"] for row in found] == ["stage", "stage", "judge"] * 2
    (second,) = await prompts(project, run_id, "goal/2/write")
    assert "## Last output of iteration 1" in second["prompt"]
    assert "## Project" in second["prompt"]
    assert "title: " in second["prompt"]
    after = await project.records_of("artifacts"), await project.records_of("sprints"), await project.facts(run_id)
    assert after == before, "reading leaves nothing behind"


async def test_RB_137_a_goal_that_people_changed_is_shown_where_it_held(project: EngineProject) -> None:
    """It changes while the second stage is under way: that one has the old goal, the third the new one."""
    project.say(write=["one", "two"], judge_it=["no", "APPROVED"])
    reached, gate, answers = asyncio.Event(), asyncio.Event(), project.models.ask

    async def ask(request: ModelRequest, *heard: Any) -> ModelReply:
        if request.place == "pair/1/judge-it":
            reached.set()
            await gate.wait()
        return await answers(request, *heard)

    project.models.ask = ask  # type: ignore[method-assign]
    run_id = await project.start(goal="First goal.")
    await asyncio.wait_for(reached.wait(), 60)
    assert (await project.engine.change(run_id, {"goal": "Second goal.", "max_iterations": 9}))["ok"]
    gate.set()
    await project.ended(run_id)
    rows = await prompts(project, run_id)
    assert shown(rows) == asked(project)
    assert ["Second goal." in row["prompt"] for row in rows] == [False, False, True, True]
    assert ["/9, stage" in row["prompt"] for row in rows] == [False, False, True, True]


async def test_RB_137_a_stage_with_tools_is_one_prompt(project: EngineProject) -> None:
    call = ToolCall("c1", "read_file", {"path": "loops/pair.json"})
    project.say(write=[ModelReply("", "ollama", "small", 1, 1, None, calls=(call,)), "done"], judge_it="APPROVED")
    run_id = await project.start()
    await project.ended(run_id)
    assert len(project.models.requests) == 3
    assert [row["place"] for row in await prompts(project, run_id)] == ["pair/1/write", "pair/1/judge-it"]


async def test_RB_137_a_key_in_a_goal_is_masked(project: EngineProject) -> None:
    run_id = await project.start(goal="Ask with sk-abcdefghijklmnopqrstuvwxyz.")
    await project.ended(run_id)
    rows = await prompts(project, run_id)
    assert rows
    assert all("sk-abcdef" not in row["prompt"] and "[secret]" in row["prompt"] for row in rows)
