"""Engines that share a database: any of them runs what any of them started, and nobody pays twice for it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import psycopg
import pytest

from loop_ls.engine.journal.schema import FORMAT
from loop_ls.testing.proxy import Proxy
from tests.engine.cluster.cells import LEASE, Cell, World, check

Open = Callable[..., Awaitable[Cell]]


@pytest.fixture
async def cell(database: str, tmp_path: Path) -> AsyncIterator[Open]:
    made: list[Cell] = []

    async def one(name: str, world: World, proxy: Proxy | None = None) -> Cell:
        made.append(Cell(name, tmp_path, database, world, proxy))
        await made[-1].engine.open()
        return made[-1]

    yield one
    await asyncio.gather(*(each.engine.close() for each in made))


@pytest.fixture
async def proxy(postgres: object) -> AsyncIterator[Proxy]:
    made = Proxy("127.0.0.1", postgres.port)  # type: ignore[attr-defined]
    await made.start()
    yield made
    made.heal()
    await made.close()


async def test_runs_are_shared_among_engines_and_each_hears_all_of_all(cell: Open) -> None:
    world = World(seconds=0.02)
    cells = [await cell(name, world) for name in "abc"]
    runs = await cells[0].start(12)
    await asyncio.gather(*(each.ended(runs) for each in cells))
    assert set(world.paid.values()) == {1}
    assert len(world.paid) == 12 * 3 * 2
    assert len(set(world.at.values())) > 1
    for run_id in runs:
        facts = await cells[1].facts(run_id)
        check(facts, 3)
        assert not [fact for fact in facts if fact["kind"] == "recovered"]
    async with asyncio.timeout(5):
        while {state["status"] for state in (await cells[2].engine.runs())["runs"]} != {"completed"}:
            await asyncio.sleep(0.01)


async def test_control_reaches_the_engine_that_runs_the_loop(cell: Open) -> None:
    world = World(iterations=1000, seconds=0.02)
    one = await cell("a", world)
    runs = await one.start(1)
    other = await cell("b", world)
    async with asyncio.timeout(10):
        while not world.paid:
            await asyncio.sleep(0.01)
    await other.engine.control("pause", runs[0])
    state = await one.engine.state(runs[0])
    async with asyncio.timeout(5):
        while state["state"]["status"] != "paused":
            await asyncio.sleep(0.01)
            state = await one.engine.state(runs[0])
    await other.engine.control("resume", runs[0])
    answer = await other.engine.control("stop", runs[0])
    assert answer["runs"][0]["status"] in ("stopping", "cancelled")
    await asyncio.gather(one.ended(runs), other.ended(runs))
    assert (await other.facts(runs[0]))[-1]["kind"] == "cancelled"


async def test_an_engine_that_leaves_gives_its_runs_to_the_others_at_once(cell: Open) -> None:
    world = World(iterations=30, seconds=0.02)
    one = await cell("a", world)
    runs = await one.start(4)
    other = await cell("b", world)
    async with asyncio.timeout(10):
        while len(world.paid) < 8:
            await asyncio.sleep(0.01)
    await one.engine.close()
    await other.ended(runs)
    for run_id in runs:
        check(await other.facts(run_id), 30)
    assert sum(count - 1 for count in world.paid.values()) <= 4  # what was in flight
    assert set(world.at.values()) == {"a", "b"}


async def test_an_engine_that_is_cut_off_loses_its_runs_and_neither_doubles_nor_loses_a_fact(
    cell: Open, proxy: Proxy
) -> None:
    world = World(iterations=12, seconds=0.05)
    far = await cell("far", world, proxy)
    runs = await far.start(4)
    near = await cell("near", world)
    async with asyncio.timeout(10):
        while len(world.paid) < 12:
            await asyncio.sleep(0.01)
    before = {call: count for call, count in world.paid.items() if world.at[call] == "far"}
    answered = {f"{run_id} {key}" for run_id in runs for key in near.storage.keys(run_id)[0]}  # type: ignore[union-attr]
    proxy.cut()
    began = asyncio.get_running_loop().time()
    await near.ended(runs)
    took = asyncio.get_running_loop().time() - began
    assert took < LEASE + 12 * 0.1 + 15  # 2 on a machine that is not busy
    proxy.heal()
    async with asyncio.timeout(20):
        while far.engine.sharing.load():  # type: ignore[union-attr]
            await asyncio.sleep(0.02)
    await far.ended(runs)  # it hears of what happened without it
    for run_id in runs:
        facts = await near.facts(run_id)
        check(facts, 12)
        assert [fact for fact in facts if fact["kind"] == "recovered"]
        assert await far.facts(run_id) == facts
    assert before
    assert not [call for call in answered if world.paid[call] > 1]
    # The far one starts nothing new while it cannot write: at most its calls in flight are repeated.
    assert sum(count - 1 for count in world.paid.values()) <= len(runs)


async def test_a_short_cut_costs_nothing(cell: Open, proxy: Proxy) -> None:
    world = World(iterations=6, seconds=0.02)
    only = await cell("only", world, proxy)
    runs = await only.start(2)
    async with asyncio.timeout(10):
        while len(world.paid) < 4:
            await asyncio.sleep(0.01)
    proxy.cut()
    await asyncio.sleep(LEASE / 3)
    proxy.heal()
    await only.ended(runs)
    for run_id in runs:
        check(await only.facts(run_id), 6)
    assert set(world.paid.values()) == {1}


async def test_an_older_engine_leaves_its_runs_when_a_newer_one_has_changed_the_journal(
    cell: Open, database: str
) -> None:
    world = World(iterations=1000, seconds=0.01)
    one = await cell("old", world)
    await one.start(1)
    async with asyncio.timeout(10):
        while not world.paid:
            await asyncio.sleep(0.01)
    with psycopg.connect(database) as db:
        db.execute("update loop_ls.meta set value = %s where name = 'format'", (str(FORMAT + 1),))
    async with asyncio.timeout(10):
        while not one.why:
            await asyncio.sleep(0.02)
    assert f"The journal in the database has format {FORMAT + 1}" in one.why
    await one.engine.close()
    with psycopg.connect(database) as db:
        assert db.execute("select owner from loop_ls.run").fetchone() == (None,)
        assert db.execute("select count(*) from loop_ls.fact where kind in ('failed', 'completed')").fetchone() == (0,)
