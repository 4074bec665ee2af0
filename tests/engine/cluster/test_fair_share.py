"""How many runs each worker takes off the common queue."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path

import psycopg
import pytest

from loop_ls.engine.durable.run_queue import RunQueue
from loop_ls.engine.journal.postgres import PostgresStorage
from tests.engine.cluster.engine_processes import EngineProcess, Workload

Open = Callable[..., Awaitable[EngineProcess]]


async def called(workload: Workload, runs: int) -> Counter[str]:
    """Engine -> the runs that it works at, once somebody works at each."""
    async with asyncio.timeout(60):
        while len(workload.paid) < runs:
            await asyncio.sleep(0.02)
    return Counter(workload.at.values())


async def test_a_burst_is_spread_over_all_workers(open_engine: Open, tmp_path: Path) -> None:
    workload = Workload(tmp_path, seconds=600)
    workers = [await open_engine(name, workload) for name in "abc"]
    await workers[0].start(60)
    assert max((await called(workload, 60)).values()) <= 22


async def test_workers_look_seldom_into_a_queue_without_runs(open_engine: Open, database: str, tmp_path: Path) -> None:
    workload = Workload(tmp_path, asks=True)
    one = await open_engine("a", workload)
    paces = []
    for _ in range(2):
        async with asyncio.timeout(60):
            while (pace := _pace(database)) in paces:
                await asyncio.sleep(0.02)
        paces.append(pace)
        runs = await one.start(1)
        await one.heard(["manual_approval_required"], runs)
    assert paces == [1.0, 0.5]


def _pace(database: str) -> float:
    with psycopg.connect(database) as db:
        found = db.execute("select polling_interval_sec from dbos.queues where name = 'runs'").fetchone()
    assert found
    return float(found[0])


async def test_runs_that_wait_for_people_leave_room_for_others(open_engine: Open, tmp_path: Path) -> None:
    workload = Workload(tmp_path, asks=True)
    one = await open_engine("a", workload)
    waiting = await one.start(20)
    await one.heard(["manual_approval_required"], waiting)
    await open_engine("b", workload)
    more = await one.start(20)
    await one.heard(["manual_approval_required"], more)
    assert (await called(workload, 40))["b"] >= 15


@pytest.mark.parametrize(
    ("runs", "waiting", "share"),
    [
        (60, [0, 0, 0], 22),
        (60, [0, 0, None], 32),  # starts runs and takes none
        (60, [], 62),
        (5000, [0, 0], 1000),  # more than a worker has at once
        (5000, [3000, 0], 2502),
    ],
)
def test_a_share(database: str, runs: int, waiting: list[int | None], share: int) -> None:
    PostgresStorage(database).close()
    RunQueue(database, "nobody").migrate()
    with psycopg.connect(database, autocommit=True) as db:
        db.execute("insert into loop_ls.run(id) select n::text from generate_series(1, %s) n", (runs,))
        db.execute("insert into loop_ls.worker(name, waiting, seen) values('dead', 0, now() - interval '10 seconds')")
        for number, count in enumerate(waiting):
            db.execute("insert into loop_ls.worker(name, waiting) values(%s, %s)", (str(number), count))
        db.execute("insert into dbos.queues(name) values('runs') on conflict do nothing")
        db.execute("select loop_ls.share()")
        assert db.execute("select worker_concurrency from dbos.queues where name = 'runs'").fetchone() == (share,)
