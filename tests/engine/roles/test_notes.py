"""Notes of people to a role loop: the next stage is told, and no judge."""

from __future__ import annotations

import asyncio

from loop_ls.testing.models import SILENCE
from tests.engine.roles.conftest import EngineProject


async def test_a_note_is_in_the_prompt_of_the_next_stage_and_in_no_other(project: EngineProject) -> None:
    project.define()
    project.say(write=["text", "better"], judge_it=["More is missing.", "APPROVED"], judge=["NO", "YES"])
    project.models.script["write"] = [SILENCE]
    run_id = await project.start()
    async with asyncio.timeout(60):
        while not project.models.asked("write"):
            await asyncio.sleep(0.01)
    assert (await project.engine.note(run_id, "mind the tide"))["ok"]
    await project.engine.close()
    project.models.requests.clear()
    project.say(write="text", judge_it="APPROVED", judge="YES")
    await project.open()
    async with asyncio.timeout(60):
        async for _, event in project.engine.subscribe(after=0, run_id=run_id):
            if event["kind"] in ("completed", "failed"):
                break
    noted = [request for request in project.models.requests if "mind the tide" in request.prompt]
    assert len(noted) == 1
    assert noted == project.models.requests[:1]
