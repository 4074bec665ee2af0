"""Decisions, forks and exported runs where several engines share a database."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from tests.engine.cluster.engine_processes import EngineProcess, Workload

Open = Callable[[str], Awaitable[EngineProcess]]


@pytest.fixture
def engine(open_engine: Callable[..., Awaitable[EngineProcess]], tmp_path: Path) -> Open:
    workload = Workload(tmp_path, asks=True)
    return lambda name: open_engine(name, workload)


async def heard(engine: EngineProcess, kind: str, run_id: str) -> dict[str, Any]:
    return (await engine.heard([kind], [run_id]))[0]


async def test_a_person_answers_at_any_engine_and_one_answer_counts(engine: Open) -> None:
    one, other = await engine("a"), await engine("b")
    run_id = (await one.ask("start", {"root": "/tmp", "path": "w.yaml"}))["runId"]
    await asyncio.gather(*(heard(each, "manual_approval_required", run_id) for each in (one, other)))
    answers = await asyncio.gather(*(each.ask("approve", run_id, None, True, None, "fine") for each in (one, other)))
    assert sorted(answer["ok"] for answer in answers) == [False, True]
    assert (await heard(one, "completed", run_id))["finalOutput"] == "fine"
    kinds = [event["kind"] for event in (await other.ask("events", run_id))["events"]]
    assert kinds.count("approval_resolved") == 1


async def test_a_fork_takes_answers_that_another_engine_has_recorded(engine: Open, tmp_path: Path) -> None:
    one, other = await engine("a"), await engine("b")
    run_id = (await one.ask("start", {"root": "/tmp", "path": "w.yaml"}))["runId"]
    await heard(other, "manual_approval_required", run_id)
    assert (await one.ask("approve", run_id, None, True, None, "fine"))["ok"]
    await heard(other, "completed", run_id)
    fork = await other.ask("fork", run_id)
    assert fork["ok"], fork
    assert (await heard(other, "completed", fork["runId"]))["finalOutput"] == "fine"
    assert len((tmp_path / "paid.log").read_text().splitlines()) == 1


async def test_an_engine_answers_by_what_others_have_just_written(engine: Open) -> None:
    engines = [await engine("a"), await engine("b")]
    for heard_by, asked in (engines, reversed(engines)):
        run_id = (await heard_by.ask("start", {"root": "/tmp", "path": "w.yaml"}))["runId"]
        await heard(heard_by, "manual_approval_required", run_id)
        assert (await asked.ask("state", run_id))["state"]["status"] == "waiting_approval"
        assert (await asked.ask("approve", "all", None, True, None, "fine"))["resolved"] != []
        await heard(heard_by, "completed", run_id)
        assert (await asked.ask("control", "stop", run_id))["code"] == "wrong_status"
        assert (await asked.ask("delete", run_id))["ok"]


async def test_a_run_goes_out_of_a_database_and_comes_back(engine: Open) -> None:
    one = await engine("a")
    run_id = (await one.ask("start", {"root": "/tmp", "path": "w.yaml"}))["runId"]
    await heard(one, "manual_approval_required", run_id)
    await one.ask("approve", run_id, None, True)
    await heard(one, "completed", run_id)
    exported = (await one.ask("export", run_id))["run"]
    before = (await one.ask("events", run_id))["events"]
    assert (await one.ask("delete", run_id))["ok"]
    assert (await one.ask("take_in", exported))["runId"] == run_id
    after = (await one.ask("events", run_id))["events"]
    assert [(event["seq"], event["kind"], event["at"]) for event in after] == [
        (event["seq"], event["kind"], event["at"]) for event in before
    ]
    assert (await one.ask("state", run_id))["state"]["status"] == "completed"
