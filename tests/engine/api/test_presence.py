"""UP-59: attended runs end when their watchers are gone; the engine leaves when nobody needs it."""

from __future__ import annotations

import asyncio
from pathlib import Path

from loop_ls.client import EngineClient
from tests.engine.api.conftest import house

LONG = 10


async def listening(client: EngineClient) -> asyncio.Task[None]:
    connected = asyncio.Event()

    async def watch() -> None:
        async for _ in client.follow(None, None, lambda up: connected.set() if up else None):
            continue

    task = asyncio.create_task(watch())
    async with asyncio.timeout(LONG):
        await connected.wait()
    return task


async def test_UP_59_after_the_grace_time_runs_are_torn_down(tmp_path: Path) -> None:
    async with house(tmp_path, grace=0.2) as home, EngineClient(tmp_path, home.handover) as client:
        task = await listening(client)
        home.program.hold.clear()
        run_id = await home.run(3, origin="editor")
        await client.aclose()
        await task
        state = await home.ended(run_id)
        assert (state["status"], state["reason"]) == ("cancelled", "teardown")


async def test_UP_59_whoever_comes_back_in_time_finds_the_run_going_on(tmp_path: Path) -> None:
    async with house(tmp_path, grace=0.5) as home:
        first = EngineClient(tmp_path, home.handover)
        task = await listening(first)
        home.program.hold.clear()
        run_id = await home.run(3, origin="editor")
        await first.aclose()
        await task
        async with EngineClient(tmp_path, home.handover) as second:
            task = await listening(second)
            await asyncio.sleep(0.8)  # longer than the grace time: nothing may happen in it
            assert (await second.status(run_id))["state"]["status"] == "running"
        await task


async def test_an_engine_that_nobody_ever_watched_tears_nothing_down(tmp_path: Path) -> None:
    async with house(tmp_path, grace=0.1) as home:
        home.program.hold.clear()
        run_id = await home.run(1)
        await asyncio.sleep(0.4)  # longer than the grace time: nothing may happen in it
        assert (await home.engine.state(run_id))["state"]["status"] == "running"


async def test_an_idle_engine_leaves_when_its_last_run_has_ended(tmp_path: Path) -> None:
    async with house(tmp_path, idle=0.2) as home:
        home.program.hold.clear()
        run_id = await home.run(1)
        await asyncio.sleep(0.5)  # longer than the idle time: the run keeps the engine
        assert not home.left.is_set()
        home.program.hold.set()
        await home.ended(run_id)
        async with asyncio.timeout(LONG):
            await home.left.wait()
