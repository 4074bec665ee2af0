"""Engines that share a database: any of them runs what any of them started, and nobody pays twice for it."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from loop_ls.engine.journal.schema import FORMAT
from loop_ls.testing.postgres import PostgresServer
from loop_ls.testing.proxy import Proxy
from tests.engine.cluster.engine_processes import LEASE, EngineProcess, ForkServer, Workload, check

pytestmark = pytest.mark.long


Open = Callable[..., Awaitable[EngineProcess]]


@pytest.fixture
async def proxy(postgres: object) -> AsyncIterator[Proxy]:
    made = Proxy("127.0.0.1", postgres.port)  # type: ignore[attr-defined]
    await made.start()
    yield made
    made.heal()
    await made.close()


async def test_runs_are_shared_among_engines_and_each_hears_all_of_all(open_engine: Open, tmp_path: Path) -> None:
    workload = Workload(tmp_path, seconds=0.02)
    engines = [await open_engine(name, workload) for name in "abc"]
    runs = await engines[0].start(12)
    await asyncio.gather(*(each.ended(runs) for each in engines))
    assert set(workload.paid.values()) == {1}
    assert len(workload.paid) == len(runs) * 3 * 2
    assert len(set(workload.at.values())) > 1
    for run_id in runs:
        facts = await engines[1].facts(run_id)
        check(facts, 3)
        assert not [fact for fact in facts if fact["kind"] == "recovered"]
    async with asyncio.timeout(60):
        while {state["status"] for state in (await engines[2].ask("runs"))["runs"]} != {"completed"}:
            await asyncio.sleep(0.01)


async def test_control_reaches_the_engine_that_runs_the_loop(open_engine: Open, tmp_path: Path) -> None:
    workload = Workload(tmp_path, iterations=1000, seconds=0.02)
    one = await open_engine("a", workload)
    runs = await one.start(1)
    other = await open_engine("b", workload)
    async with asyncio.timeout(60):
        while not workload.paid:
            await asyncio.sleep(0.01)
    await other.ask("control", "pause", runs[0])
    state = await one.ask("state", runs[0])
    async with asyncio.timeout(60):
        while state["state"]["status"] != "paused":
            await asyncio.sleep(0.01)
            state = await one.ask("state", runs[0])
    await other.ask("control", "resume", runs[0])
    answer = await other.ask("control", "stop", runs[0])
    assert answer["runs"][0]["status"] in ("stopping", "cancelled")
    await asyncio.gather(one.ended(runs), other.ended(runs))
    assert (await other.facts(runs[0]))[-1]["kind"] == "cancelled"


async def test_an_engine_that_leaves_gives_its_runs_to_the_others_at_once(open_engine: Open, tmp_path: Path) -> None:
    workload = Workload(tmp_path, iterations=60, seconds=0.04)
    one = await open_engine("a", workload)
    runs = await one.start(4)
    async with asyncio.timeout(60):
        while "a" not in workload.at.values():
            await asyncio.sleep(0.01)
        other = await open_engine("b", workload)
        while len(workload.paid) < 8:
            await asyncio.sleep(0.01)
    await one.close()
    await other.ended(runs)
    for run_id in runs:
        check(await other.facts(run_id), 60)
    assert sum(count - 1 for count in workload.paid.values()) <= 4  # what was in flight
    assert set(workload.at.values()) == {"a", "b"}


async def test_an_engine_that_is_cut_off_loses_its_runs_and_neither_doubles_nor_loses_a_fact(
    open_engine: Open, proxy: Proxy, tmp_path: Path
) -> None:
    workload = Workload(tmp_path, iterations=40, seconds=0.05)  # they must not end before the cut
    far = await open_engine("far", workload, proxy)
    runs = await far.start(4)
    async with asyncio.timeout(60):
        while len({call.split()[0] for call in workload.paid}) < len(runs):
            await asyncio.sleep(0.01)
    near = await open_engine("near", workload)
    async with asyncio.timeout(60):
        while len(workload.paid) < 12:
            await asyncio.sleep(0.01)
    before = {call: count for call, count in workload.paid.items() if workload.at[call] == "far"}
    answered = {f"{run_id} {key}" for run_id in runs for key in await near.ask("answered", run_id)}
    proxy.cut()
    began = asyncio.get_running_loop().time()
    await near.ended(runs)
    took = asyncio.get_running_loop().time() - began
    assert took < LEASE + 40 * 0.1 + 15  # 5 on a machine that is not busy
    proxy.heal()
    async with asyncio.timeout(60):
        while await far.ask("load"):
            await asyncio.sleep(0.02)
    await far.ended(runs)  # it hears of what happened without it
    for run_id in runs:
        facts = await near.facts(run_id)
        check(facts, 40)
        assert [fact for fact in facts if fact["kind"] == "recovered"]
        assert await far.facts(run_id) == facts
    assert before
    assert not [call for call in answered if workload.paid[call] > 1]
    # The far one starts nothing new while it cannot write: at most its calls in progress are repeated.
    assert sum(count - 1 for count in workload.paid.values()) <= len(runs)


async def test_a_short_cut_costs_nothing(open_engine: Open, proxy: Proxy, tmp_path: Path) -> None:
    workload = Workload(tmp_path, iterations=6, seconds=0.02)
    only = await open_engine("only", workload, proxy)
    runs = await only.start(2)
    async with asyncio.timeout(60):
        while len(workload.paid) < 4:
            await asyncio.sleep(0.01)
    proxy.cut()
    await asyncio.sleep(LEASE / 3)
    proxy.heal()
    await only.ended(runs)
    for run_id in runs:
        check(await only.facts(run_id), 6)
    assert set(workload.paid.values()) == {1}


async def test_an_older_engine_leaves_its_runs_when_a_newer_one_has_changed_the_journal(
    open_engine: Open, database: str, tmp_path: Path
) -> None:
    workload = Workload(tmp_path, iterations=1000, seconds=0.01)
    one = await open_engine("old", workload)
    await one.start(1)
    async with asyncio.timeout(60):
        while not workload.paid:
            await asyncio.sleep(0.01)
    with psycopg.connect(database) as db:
        db.execute("update loop_ls.meta set value = %s where name = 'format'", (str(FORMAT + 1),))
    async with asyncio.timeout(60):
        while not (why := await one.ask("left")):
            await asyncio.sleep(0.02)
    assert f"The journal in the database has format {FORMAT + 1}" in why
    await one.close()
    with psycopg.connect(database) as db:
        assert db.execute("select count(*) from loop_ls.worker").fetchone() == (0,)
        assert db.execute("select count(*) from loop_ls.fact where kind in ('failed', 'completed')").fetchone() == (0,)


async def test_a_worker_that_was_stopped_for_longer_than_its_lease_writes_nothing_when_it_wakes_up(
    open_engine: Open, tmp_path: Path
) -> None:
    workload = Workload(tmp_path, iterations=40, seconds=0.05)
    asleep = await open_engine("asleep", workload)
    runs = await asleep.start(4)
    async with asyncio.timeout(60):
        while len(workload.paid) < 12:
            await asyncio.sleep(0.01)
    near = await open_engine("near", workload)
    os.kill(asleep.pid, signal.SIGSTOP)
    await near.ended(runs)
    whole = {run_id: await near.facts(run_id) for run_id in runs}
    os.kill(asleep.pid, signal.SIGCONT)
    async with asyncio.timeout(60):
        while await asleep.ask("load"):
            await asyncio.sleep(0.02)
    await asleep.ended(runs)
    for run_id in runs:
        check(whole[run_id], 40)
        assert await near.facts(run_id) == await asleep.facts(run_id) == whole[run_id]
    assert sum(count - 1 for count in workload.paid.values()) <= 2 * len(runs)  # those in flight, twice


async def test_the_owner_of_each_run_is_a_process_by_name_though_two_are_called_the_same(
    open_engine: Open, database: str, tmp_path: Path
) -> None:
    workload = Workload(tmp_path, iterations=40, seconds=0.05)
    await asyncio.gather(open_engine("same", workload), open_engine("same", workload))
    one = await open_engine("third", workload)
    runs = await one.start(9)
    async with asyncio.timeout(60):
        while len({call.split()[0] for call in workload.paid}) < len(runs):
            await asyncio.sleep(0.02)
    with psycopg.connect(database) as db:
        rows = db.execute("select workflow_uuid, status, executor_id from dbos.workflow_status").fetchall()
        workers = {row[0] for row in db.execute("select name from loop_ls.worker").fetchall()}
    assert {row[0] for row in rows} == set(runs)
    assert {row[1] for row in rows} == {"PENDING"}
    assert {row[2] for row in rows} <= workers
    assert len(workers) == 3


async def test_runs_that_nobody_could_take_are_taken_by_the_first_worker_that_comes(
    open_engine: Open, database: str, tmp_path: Path
) -> None:
    workload = Workload(tmp_path, iterations=1)
    one = await open_engine("a", workload)
    runs = await one.start(2)
    await one.ended(runs)
    await one.close()
    with psycopg.connect(database) as db:  # as if the queue had been lost, and nobody had ended them
        db.execute("truncate dbos.workflow_status, dbos.workflow_input, dbos.workflow_output cascade")
        db.execute("update loop_ls.run set snapshot = null")
        db.execute("delete from loop_ls.fact where kind = 'completed'")
        db.execute("delete from loop_ls.entry where key = ':end'")
        db.execute("update loop_ls.run set last_seq = last_seq - 1, answers = answers - 1")
    await (await open_engine("b", workload)).ended(runs)
    assert set(workload.paid.values()) == {1}


@pytest.fixture
def careful() -> Iterator[PostgresServer]:
    """What it has committed is on its disk."""
    made = PostgresServer(careful=True).start()
    yield made
    made.stop()


async def test_a_database_that_is_restarted_is_waited_for_and_nothing_finished_is_paid_again(
    fork_server: ForkServer, careful: PostgresServer, tmp_path: Path
) -> None:
    workload, url = Workload(tmp_path, iterations=12, seconds=0.05), careful.database()
    engines = [await EngineProcess.open(fork_server, name, url, workload) for name in "ab"]
    try:
        runs = await engines[0].start(4)
        async with asyncio.timeout(60):
            while len(workload.paid) < 16:
                await asyncio.sleep(0.01)
        careful.down()
        await asyncio.sleep(2 * LEASE)  # longer than anybody's lease
        careful.up()
        await asyncio.gather(*(each.ended(runs, 60) for each in engines))
        for run_id in runs:
            check(await engines[0].facts(run_id), 12)
            assert await engines[1].facts(run_id) == await engines[0].facts(run_id)
        assert sum(count - 1 for count in workload.paid.values()) <= 2 * len(runs)  # those in flight
    finally:
        await asyncio.gather(*(each.close() for each in engines))
