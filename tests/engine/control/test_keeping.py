"""How long ended runs are kept; what goes on, and what it stands on, is never touched."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from loop_ls.engine.retention.run_retention import RetentionPolicy
from loop_ls.testing.models import SILENCE
from tests.engine.control.support.project import Project


class DayClock:
    """A clock that stands on the day it is told."""

    def __init__(self) -> None:
        self.day = 0.0

    def __call__(self) -> float:
        return 1_700_000_000.0 + self.day * 86_400.0


@pytest.fixture
async def project(tmp_path: Path) -> AsyncIterator[Project]:
    made = Project(tmp_path)
    made.models.script |= {"write": ["v1"], "judge": ["YES"]}
    yield made
    await made.close()


async def left(project: Project) -> list[str]:
    assert project.engine is not None
    return [state["runId"] for state in (await project.engine.runs())["runs"]]


async def waiting(project: Project) -> str:
    """A run whose model does not answer."""
    assert project.engine is not None
    project.models.script["write"] = [SILENCE]
    answer = await project.start()
    async with asyncio.timeout(60):
        async for _, event in project.engine.subscribe(0, answer["runId"]):
            if event["kind"] == "step_started" and event.get("mode") == "run":
                break
    return str(answer["runId"])


async def test_so_many_ended_runs_are_kept_and_running_ones_besides(project: Project) -> None:
    engine = await project.open(keep=RetentionPolicy(runs=2))
    ended = [(await project.run())[0]["runId"] for _ in range(4)]
    goes_on = await waiting(project)
    assert sorted(await engine._retention.tidy()) == sorted(ended[:2])
    assert set(await left(project)) == {*ended[2:], goes_on}


async def test_ended_runs_are_kept_so_many_days(project: Project) -> None:
    clock: Any = DayClock()
    engine = await project.open(keep=RetentionPolicy(days=7), clock=clock)
    old = (await project.run())[0]["runId"]
    clock.day = 6
    new = (await project.run())[0]["runId"]
    assert await engine._retention.tidy() == []
    clock.day = 7.5
    assert await engine._retention.tidy() == [old]
    assert await left(project) == [new]


async def test_nothing_is_forgotten_where_nobody_said_so(project: Project) -> None:
    engine = await project.open()
    await project.run()
    assert await engine._retention.tidy() == []
    assert engine._retention._task is None


async def test_a_run_that_another_one_stands_on_is_kept_until_that_has_ended(project: Project) -> None:
    engine = await project.open(keep=RetentionPolicy(runs=0))
    project.models.script["judge"] = ["NO", "YES"]
    first = (await project.run())[0]["runId"]
    project.models.script["write"] = [SILENCE]
    fork = (await engine.fork(first, 2))["runId"]
    assert await engine._retention.tidy() == []
    assert (await engine.delete(first))["code"] == "wrong_status"
    await engine.control("stop", fork)
    await project.ended(fork)
    assert set(await engine._retention.tidy()) == {first, fork}


async def test_all_runs_that_have_ended_are_deleted_at_one_word(project: Project) -> None:
    engine = await project.open()
    ended = [(await project.run())[0]["runId"] for _ in range(2)]
    goes_on = await waiting(project)
    assert sorted((await engine.delete("all"))["deleted"]) == sorted(ended)
    assert await left(project) == [goes_on]
