"""Caps for all runs of a project hold across engines that share a database: one account, read and drawn on there."""

from __future__ import annotations

import asyncio
import os
import signal
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest

from loop_ls.engine.durable.spending_accounts import PostgresAccounts
from loop_ls.engine.journal.postgres import PostgresStorage
from loop_ls.engine.journal.refusal import JournalRefused
from loop_ls.engine.money.caps import Caps
from loop_ls.engine.money.ledger import Cost
from loop_ls.engine.money.shared_ledger import Account
from tests.engine.cluster.engine_processes import EngineProcess, Workload

Open = Callable[..., Awaitable[EngineProcess]]
SPANS = pytest.mark.parametrize("span", ["perDay", "perProject"])


def capped(folder: Path, span: str, usd: float = 1.2, seconds: float = 0.05) -> Workload:
    """A run costs half a dollar, and may cost 60 cents."""
    return Workload(folder, seconds=seconds, limits={span: {"budgetUsd": usd}})


async def rows(database: str, query: str) -> list[Any]:
    async with await psycopg.AsyncConnection.connect(database, autocommit=True) as db:
        return await (await db.execute(query)).fetchall()


async def ends(engine: EngineProcess, runs: list[str]) -> Counter[str]:
    told = await engine.heard(["completed", "failed", "cancelled"], runs)
    return Counter(fact.get("reason") or fact["kind"] for fact in told)


@SPANS
async def test_engines_side_by_side_do_not_pass_a_cap_together(
    open_engine: Open, tmp_path: Path, database: str, span: str
) -> None:
    workload = capped(tmp_path, span, usd=3.2)
    engines = [await open_engine(name, workload) for name in "abc"]
    runs = [run for each in engines for run in await each.start(6)]
    assert await ends(engines[0], runs) == {"completed": 6, "budget": 12}
    assert len(workload.paid) == 6
    assert await rows(database, "select round(usd::numeric, 6)::text, tokens from loop_ls.account") == [
        ("3.000000", 300)
    ]
    async with asyncio.timeout(60):
        while await rows(database, "select 1 from loop_ls.held"):
            await asyncio.sleep(0.02)


@SPANS
async def test_an_engine_that_comes_later_counts_what_was_spent_without_a_cap(
    open_engine: Open, tmp_path: Path, database: str, span: str
) -> None:
    before = await open_engine("before", Workload(tmp_path, limits={}))
    assert await ends(before, await before.start(2)) == {"completed": 2}
    assert not await rows(database, "select 1 from loop_ls.account")
    await before.close()
    after = await open_engine("after", capped(tmp_path, span))
    assert await ends(after, await after.start(1)) == {"budget": 1}


@SPANS
async def test_what_a_killed_engine_had_set_aside_is_free_when_its_run_is_taken_over(
    open_engine: Open, tmp_path: Path, database: str, span: str
) -> None:
    """The call in flight may have been paid for; it is made again, and booked once."""
    workload = capped(tmp_path, span, usd=0.7, seconds=0.2)
    dying = await open_engine("dying", workload)
    runs = await dying.start(1)
    async with asyncio.timeout(60):
        while not await rows(database, "select 1 from loop_ls.held"):
            await asyncio.sleep(0.01)
    other = await open_engine("other", workload)
    os.kill(dying.pid, signal.SIGKILL)
    assert await ends(other, runs) == {"completed": 1}
    assert await ends(other, await other.start(1)) == {"budget": 1}
    assert await rows(database, "select usd from loop_ls.account") == [(0.5,)]


async def test_only_who_has_the_run_sets_something_aside(open_engine: Open, tmp_path: Path, database: str) -> None:
    one = await open_engine("one", capped(tmp_path, "perDay"))
    (run,) = await one.start(1)
    await one.ended([run])
    accounts = PostgresAccounts(database, lambda place: asyncio.Event())
    with pytest.raises(JournalRefused) as refused:
        await accounts.hold(Account("/p", True, run, "an old claim"), Caps(usd=1.0), "n", [Cost(0.1)])
    accounts.close()
    assert refused.value.code == "not_owner"
    assert not await rows(database, "select 1 from loop_ls.held where name = 'n'")


async def test_costs_are_read_whatever_stands_beside_them(database: str) -> None:
    """References to long texts have a key that jsonb cannot hold."""
    PostgresStorage(database).close()
    bodies = [
        '{"usd":0.5,"error":{"message":{"\\u0000":"ab12"}}}',
        '{"usd":0.5,"model":"a\\\\u0000b"}',
        '{"usd":0.5,"model":"a\\\\\\\\\\u0000"}',
    ]
    async with await psycopg.AsyncConnection.connect(database) as db:
        for body in bodies:
            found = await (await db.execute("select loop_ls.object(%s)->>'usd'", (body,))).fetchone()
            assert found == ("0.5",)


DAY = 24 * 3600.0


@pytest.mark.parametrize("skew", [-DAY, -400 * DAY, DAY])
async def test_an_engine_whose_clock_is_wrong_pays_from_the_account_of_today(
    open_engine: Open, tmp_path: Path, skew: float
) -> None:
    """The server's clock says which day it is: what its facts say would be no day's money."""
    engine = await open_engine("wrong", capped(tmp_path, "perDay"), skew=skew)
    assert await ends(engine, await engine.start(1)) == {"completed": 1}
    assert await ends(engine, await engine.start(1)) == {"completed": 1}
    assert await ends(engine, await engine.start(1)) == {"budget": 1}


async def test_what_is_recorded_for_a_later_day_was_spent_before_today_ends(
    open_engine: Open, tmp_path: Path, database: str
) -> None:
    ahead = await open_engine("ahead", Workload(tmp_path, limits={}), skew=3 * DAY)
    assert await ends(ahead, await ahead.start(2)) == {"completed": 2}
    await ahead.close()
    engine = await open_engine("right", capped(tmp_path, "perDay"))
    assert await ends(engine, await engine.start(1)) == {"budget": 1}


@pytest.mark.parametrize("long", [False, True], ids=["", "a reference to a long text"])
async def test_a_run_counts_for_the_project_that_it_names_and_not_for_its_folder(database: str, long: bool) -> None:
    """Whoever starts it in a folder of a project spends the money of the project."""
    PostgresStorage(database).close()
    project = '{"\\u0000":"abc"}' if long else '"/p"'
    started = [f'{{"root":"/p/sub","project":{project}}}', '{"root":"/p"}']
    async with await psycopg.AsyncConnection.connect(database) as db:
        for run, first in enumerate(started, 1):
            for seq, kind, body in ((1, "run_started", first), (2, "call", '{"usd":0.5}')):
                await db.execute(
                    "insert into loop_ls.fact values(%s, %s, %s, %s, 0, %s)", (run * 10 + seq, run, seq, kind, body)
                )
        found = await (await db.execute("select project, usd from loop_ls.spending order by position")).fetchall()
    assert found == [("abc" if long else "/p", 0.5), ("/p", 0.5)]
