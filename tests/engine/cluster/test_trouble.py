"""What can happen to workers and to their database, beside what `test_sharing` tries: nothing is lost, doubled or paid
again."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from loop_ls.testing.postgres import PostgresServer, StandbyServer
from loop_ls.testing.proxy import Proxy
from tests.engine.cluster.engine_processes import EngineProcess, ForkServer, Workload, check

pytestmark = pytest.mark.long


Open = Callable[..., Awaitable[EngineProcess]]


async def paid(workload: Workload, calls: int) -> None:
    async with asyncio.timeout(60):
        while len(workload.paid) < calls:
            await asyncio.sleep(0.01)


async def answered(engine: EngineProcess, runs: list[str]) -> set[str]:
    return {f"{run_id} {key}" for run_id in runs for key in await engine.ask("answered", run_id)}


@pytest.fixture
def primary() -> Iterator[PostgresServer]:
    made = PostgresServer(careful=True).start()
    yield made
    made.stop()


@pytest.fixture
def standby(primary: PostgresServer) -> Iterator[StandbyServer]:
    made = StandbyServer(primary).start()
    yield made
    made.stop()


@pytest.mark.timeout(180)
async def test_a_database_that_fails_over_to_its_standby_is_followed(
    fork_server: ForkServer, primary: PostgresServer, standby: StandbyServer, tmp_path: Path
) -> None:
    workload, url = Workload(tmp_path, iterations=12, seconds=0.05), primary.database()
    proxy = Proxy("127.0.0.1", primary.port)  # the name of the database: it leads to whoever is the primary
    await proxy.start()
    engines = [await EngineProcess.open(fork_server, name, url, workload, proxy) for name in "ab"]
    try:
        runs = await engines[0].start(4)
        await paid(workload, 16)
        finished = await answered(engines[1], runs)
        await asyncio.to_thread(primary.down)
        await asyncio.to_thread(standby.promote)
        proxy.there = standby.port
        await asyncio.gather(*(each.ended(runs, 60) for each in engines))
        for run_id in runs:
            check(await engines[0].facts(run_id), 12)
            assert await engines[1].facts(run_id) == await engines[0].facts(run_id)
        assert finished
        assert not [call for call in finished if workload.paid[call] > 1]
    finally:
        await asyncio.gather(*(each.close() for each in engines))
        await proxy.close()


async def test_clocks_that_differ_by_an_hour_take_no_run_from_anybody_and_hold_up_no_takeover(
    open_engine: Open, tmp_path: Path
) -> None:
    workload = Workload(tmp_path, iterations=30, seconds=0.05)
    early, late, right = [
        await open_engine(name, workload, skew=skew) for name, skew in (("e", 3600), ("l", -3600), ("r", 0))
    ]
    runs = await right.start(18)  # each takes its third and two more at most: of nine, two workers could take all
    async with asyncio.timeout(60):
        while set(workload.at.values()) != {"e", "l", "r"}:
            await asyncio.sleep(0.01)
    await paid(workload, 36)
    finished = await answered(right, runs)
    os.kill(early.pid, signal.SIGKILL)
    await asyncio.gather(late.ended(runs), right.ended(runs))
    for run_id in runs:
        facts = await right.facts(run_id)
        check(facts, 30)
        recovered = [fact for fact in facts if fact["kind"] == "recovered"]
        assert len(recovered) <= 1
    assert not [call for call in finished if workload.paid[call] > 1]


@pytest.mark.parametrize("moment", ["before", "after"])
async def test_a_worker_that_is_killed_while_it_recovers_another_leaves_the_runs_to_a_third(
    open_engine: Open, tmp_path: Path, moment: str
) -> None:
    workload = Workload(tmp_path, iterations=60, seconds=0.05)
    first = await open_engine("first", workload)
    runs = await first.start(4)
    await paid(workload, 16)
    second = await open_engine("second", workload, dies=moment)
    finished = await answered(second, runs)
    os.kill(first.pid, signal.SIGKILL)
    await asyncio.wait_for(second.gone(), 60)
    third = await open_engine("third", workload)
    await third.ended(runs)
    for run_id in runs:
        check(await third.facts(run_id), 60)
    assert finished
    assert not [call for call in finished if workload.paid[call] > 1]


@pytest.mark.timeout(180)
async def test_a_thousand_runs_wait_for_the_first_worker(open_engine: Open, tmp_path: Path) -> None:
    workload = Workload(tmp_path, iterations=1)
    starter = await open_engine("starter", workload, takes=False)
    runs = await starter.start(1000)
    assert not workload.paid
    await open_engine("worker", workload)
    await starter.ended(runs, 120)
    assert set(workload.paid.values()) == {1}
    assert len(workload.paid) == 2 * len(runs)
