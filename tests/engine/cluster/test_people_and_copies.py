"""Decisions, forks and exported runs where several engines share a database."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from loop_ls.engine.durable.postgres_cluster import PostgresCrew
from loop_ls.engine.journal.postgres import PostgresStorage
from loop_ls.engine.service import Engine
from tests.engine.cluster.cells import BEAT, LEASE
from tests.engine.control.support.asking import Asks, Door

Open = Callable[[str], Awaitable[Engine]]


@pytest.fixture
async def engine(database: str, tmp_path: Path) -> AsyncIterator[Open]:
    made: list[Engine] = []
    asks = Asks(tmp_path)

    async def one(name: str) -> Engine:
        made.append(
            Engine(
                tmp_path / name,
                {"workflow": asks},
                lambda plan: Door(),
                asks,
                storage=lambda: PostgresStorage(database),
                crew=lambda storage: PostgresCrew(storage, BEAT, LEASE),  # type: ignore[arg-type]
            )
        )
        await made[-1].open()
        return made[-1]

    yield one
    await asyncio.gather(*(each.close() for each in made))


async def heard(engine: Engine, kind: str, run_id: str) -> dict[str, Any]:
    async with asyncio.timeout(20):
        async for _, event in engine.subscribe(0, run_id):
            if event["kind"] == kind:
                return event
    raise AssertionError(f"no {kind}")


async def test_a_person_answers_at_any_engine_and_one_answer_counts(engine: Open) -> None:
    one, other = await engine("a"), await engine("b")
    run_id = (await one.start({"root": "/tmp", "path": "w.yaml"}))["runId"]
    await asyncio.gather(*(heard(each, "manual_approval_required", run_id) for each in (one, other)))
    answers = await asyncio.gather(*(each.approve(run_id, None, True, None, "fine") for each in (one, other)))
    assert sorted(answer["ok"] for answer in answers) == [False, True]
    assert (await heard(one, "completed", run_id))["finalOutput"] == "fine"
    kinds = [event["kind"] for event in (await other.events(run_id))["events"]]
    assert kinds.count("approval_resolved") == 1


async def test_a_fork_takes_answers_that_another_engine_has_recorded(engine: Open, tmp_path: Path) -> None:
    one, other = await engine("a"), await engine("b")
    run_id = (await one.start({"root": "/tmp", "path": "w.yaml"}))["runId"]
    await heard(other, "manual_approval_required", run_id)
    await one.approve(run_id, None, True, None, "fine")
    await heard(other, "completed", run_id)
    fork = await other.fork(run_id)
    assert fork["ok"], fork
    assert (await heard(other, "completed", fork["runId"]))["finalOutput"] == "fine"
    assert (tmp_path / "paid.log").read_text() == "paid\n"


async def test_a_run_goes_out_of_a_database_and_comes_back(engine: Open) -> None:
    one = await engine("a")
    run_id = (await one.start({"root": "/tmp", "path": "w.yaml"}))["runId"]
    await heard(one, "manual_approval_required", run_id)
    await one.approve(run_id, None, True)
    await heard(one, "completed", run_id)
    exported = (await one.export(run_id))["run"]
    before = (await one.events(run_id))["events"]
    assert (await one.delete(run_id))["ok"]
    assert (await one.take_in(exported))["runId"] == run_id
    after = (await one.events(run_id))["events"]
    assert [(event["seq"], event["kind"], event["at"]) for event in after] == [
        (event["seq"], event["kind"], event["at"]) for event in before
    ]
    assert (await one.state(run_id))["state"]["status"] == "completed"
