"""A start that is sent again is the same run: also at the same time, after a restart, and not for another request."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from loop_ls.contract.facts.kinds import RunStarted
from loop_ls.engine.core.idempotency import KEPT
from loop_ls.engine.core.loop_driver import Outcome
from loop_ls.engine.core.plan import Plan
from loop_ls.engine.core.ports import Models, Recorder
from loop_ls.engine.core.preparer import Prepared
from loop_ls.engine.core.start_request import StartRequest
from loop_ls.engine.service import Engine
from loop_ls.testing.models import ScriptedModels

Json = dict[str, Any]


class Door(ScriptedModels):
    def problem(self, name: str) -> None:
        return None


class World:
    """An engine whose runs end at once; preparing one takes a turn of the loop."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.now = folder, 1_000_000.0

    async def open(self) -> Engine:
        self.engine = Engine(
            self.folder, {"workflow": self}, lambda plan: Door(), self, clock=lambda: self.now, home=self.folder
        )
        await self.engine.open()
        return self.engine

    async def prepare(self, request: StartRequest, models: Any) -> Prepared:
        await asyncio.sleep(0)
        return Prepared(RunStarted(format="workflow", name="w", target={"kind": "workflow"}, path=request.path))

    async def run(self, plan: Plan, recorder: Recorder, models: Models) -> Outcome:
        return Outcome("completed", "done")

    async def start(self, user: str | None = None, **more: Any) -> Json:
        argument = {"root": str(self.folder), "path": str(self.folder / "w.yaml"), **more}
        return await self.engine.start(argument, user)


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    made = World(tmp_path)
    await made.open()
    yield made
    await made.engine.close()


async def test_the_same_request_with_the_same_key_is_the_same_run(world: World) -> None:
    first = await world.start(idempotencyKey="k", input="a")
    again = await world.start(input="a", consent="given later", idempotencyKey="k")
    assert (first["ok"], again) == (True, {"ok": True, "runId": first["runId"], "repeated": True})
    assert len((await world.engine.runs())["runs"]) == 1


async def test_impatient_clients_get_one_run(world: World) -> None:
    answers = await asyncio.gather(*(world.start(idempotencyKey="k") for _ in range(20)))
    assert len({answer["runId"] for answer in answers}) == 1
    assert sum("repeated" not in answer for answer in answers) == 1
    assert len((await world.engine.runs())["runs"]) == 1


async def test_another_request_under_the_key_is_refused(world: World) -> None:
    first = await world.start(idempotencyKey="k", input="a")
    refused = await world.start(idempotencyKey="k", input="b")
    assert (refused["ok"], refused["code"], refused["runId"]) == (False, "idempotency_conflict", first["runId"])


async def test_a_key_holds_across_a_restart_and_for_a_day(world: World) -> None:
    first = await world.start(idempotencyKey="k")
    await world.engine.close()
    await world.open()
    world.now += KEPT - 1
    assert (await world.start(idempotencyKey="k"))["runId"] == first["runId"]
    world.now += 2
    later = await world.start(idempotencyKey="k")
    assert later["runId"] != first["runId"]
    assert (await world.start(idempotencyKey="k"))["runId"] == later["runId"]


async def test_each_user_has_their_own_keys(world: World) -> None:
    started = [await world.start(user, idempotencyKey="k") for user in (None, "eve", "owner", "")]
    assert len({answer["runId"] for answer in started}) == 4


async def test_a_refused_start_uses_no_key_up(world: World) -> None:
    assert not (await world.start(idempotencyKey="k", limits=1))["ok"]
    assert (await world.start(idempotencyKey="k"))["ok"]


@pytest.mark.parametrize("key", ["", "x" * 256, "\u00fc", "a\nb", 7])
async def test_a_key_that_is_none_is_refused(world: World, key: Any) -> None:
    assert (await world.start(idempotencyKey=key))["code"] == "bad_argument"
