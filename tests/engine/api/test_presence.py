"""UP-59, with a real listener: attended runs end when their watchers are gone."""

from __future__ import annotations

import asyncio
from pathlib import Path

from loop_ls.client import EngineClient
from tests.engine.api.conftest import opened_project

LONG = 60


async def test_UP_59_after_the_grace_time_runs_are_torn_down(tmp_path: Path) -> None:
    async with opened_project(tmp_path, grace=0.2) as project, EngineClient(tmp_path, project.handover) as client:
        connected = asyncio.Event()

        async def watch() -> None:
            async for _ in client.follow(None, None, lambda up: connected.set() if up else None):
                continue

        watching = asyncio.create_task(watch())
        async with asyncio.timeout(LONG):
            await connected.wait()
        project.program.hold.clear()
        run_id = await project.run(3, origin="editor")
        assert (await client.status(run_id))["state"]["status"] == "running"
        await client.aclose()
        await watching
        state = await project.ended(run_id)
        assert (state["status"], state["reason"]) == ("cancelled", "teardown")
