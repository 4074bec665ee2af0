"""What each stage was told, read from the record afterwards: to the letter, and nothing is written for it."""

from __future__ import annotations

import asyncio
from typing import Any

from loop_ls.engine.core.messages import ToolCall
from loop_ls.engine.core.ports import ModelReply, ModelRequest

from .conftest import House


async def prompts(house: House, run_id: str, place: str = "") -> list[dict[str, Any]]:
    answer = await house.engine.prompts(run_id, place)
    assert answer["ok"], answer
    return list(answer["prompts"])


def asked(house: House) -> list[tuple[str, str, str | None]]:
    return [(one.place, one.prompt, one.system) for one in house.models.requests if not one.turns]


def shown(rows: list[dict[str, Any]]) -> list[tuple[str, str, str | None]]:
    return [(row["place"], row["prompt"], row.get("system")) for row in rows]


async def test_stages_and_their_judge_show_what_they_were_asked(house: House) -> None:
    house.define(
        "goal", termination_condition={"type": "goal_bound", "value": {"goal_prompt": "Good.", "max_iterations": 2}}
    )
    house.say(write=["one", "two"], judge_it="fine", judge=['{"achieved": false, "rationale": "more"}', "YES"])
    run_id = await house.start("goal")
    await house.ended(run_id)
    before = await house.records_of("artifacts"), await house.records_of("sprints"), await house.facts(run_id)
    found = await prompts(house, run_id)
    assert shown(found) == asked(house)
    assert [row["purpose"] for row in found] == ["stage", "stage", "judge"] * 2
    (second,) = await prompts(house, run_id, "goal/2/write")
    assert "Artifact" in second["prompt"]
    assert "## Project" in second["prompt"]
    assert "title: " in second["prompt"]
    after = await house.records_of("artifacts"), await house.records_of("sprints"), await house.facts(run_id)
    assert after == before, "reading leaves nothing behind"


async def test_a_goal_that_people_changed_is_shown_where_it_held(house: House) -> None:
    """It changes while the second stage is under way: that one has the old goal, the third the new one."""
    house.say(write=["one", "two"], judge_it=["no", "APPROVED"])
    reached, gate, answers = asyncio.Event(), asyncio.Event(), house.models.ask

    async def ask(request: ModelRequest, *heard: Any) -> ModelReply:
        if request.place == "pair/1/judge-it":
            reached.set()
            await gate.wait()
        return await answers(request, *heard)

    house.models.ask = ask  # type: ignore[method-assign]
    run_id = await house.start(goal="First goal.")
    await asyncio.wait_for(reached.wait(), 20)
    assert (await house.engine.change(run_id, {"goal": "Second goal.", "max_iterations": 9}))["ok"]
    gate.set()
    await house.ended(run_id)
    rows = await prompts(house, run_id)
    assert shown(rows) == asked(house)
    assert ["Second goal." in row["prompt"] for row in rows] == [False, False, True, True]
    assert ["/9, stage" in row["prompt"] for row in rows] == [False, False, True, True]


async def test_a_stage_with_tools_is_one_prompt(house: House) -> None:
    call = ToolCall("c1", "read_file", {"path": "loops/pair.json"})
    house.say(write=[ModelReply("", "ollama", "small", 1, 1, None, calls=(call,)), "done"], judge_it="APPROVED")
    run_id = await house.start()
    await house.ended(run_id)
    assert len(house.models.requests) == 3
    assert [row["place"] for row in await prompts(house, run_id)] == ["pair/1/write", "pair/1/judge-it"]


async def test_a_key_in_a_goal_is_masked(house: House) -> None:
    run_id = await house.start(goal="Ask with sk-abcdefghijklmnopqrstuvwxyz.")
    await house.ended(run_id)
    rows = await prompts(house, run_id)
    assert rows
    assert all("sk-abcdef" not in row["prompt"] and "[secret]" in row["prompt"] for row in rows)
