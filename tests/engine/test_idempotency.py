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


class EndingRuns:
    """An engine whose runs end at once; preparing one takes a turn of the loop."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.now = folder, 1_000_000.0

    async def open(self) -> Engine:
        self.engine = Engine(
            self.folder,
            {"workflow": self},
            lambda plan: ScriptedModels(),
            self,
            clock=lambda: self.now,
            home=self.folder,
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
async def ending_runs(tmp_path: Path) -> AsyncIterator[EndingRuns]:
    made = EndingRuns(tmp_path)
    await made.open()
    yield made
    await made.engine.close()


async def test_WB_168_the_same_request_with_the_same_key_is_the_same_run(ending_runs: EndingRuns) -> None:
    first = await ending_runs.start(idempotencyKey="k", input="a")
    again = await ending_runs.start(input="a", consent="given later", idempotencyKey="k")
    assert (first["ok"], again) == (True, {"ok": True, "runId": first["runId"], "repeated": True})
    assert len((await ending_runs.engine.runs())["runs"]) == 1


async def test_WB_168_impatient_clients_get_one_run(ending_runs: EndingRuns) -> None:
    answers = await asyncio.gather(*(ending_runs.start(idempotencyKey="k") for _ in range(20)))
    assert len({answer["runId"] for answer in answers}) == 1
    assert sum("repeated" not in answer for answer in answers) == 1
    assert len((await ending_runs.engine.runs())["runs"]) == 1


async def test_WB_168_another_request_under_the_key_is_refused(ending_runs: EndingRuns) -> None:
    first = await ending_runs.start(idempotencyKey="k", input="a")
    refused = await ending_runs.start(idempotencyKey="k", input="b")
    assert (refused["ok"], refused["code"], refused["runId"]) == (False, "idempotency_conflict", first["runId"])


async def test_WB_168_a_key_holds_across_a_restart_and_for_a_day(ending_runs: EndingRuns) -> None:
    first = await ending_runs.start(idempotencyKey="k")
    await ending_runs.engine.close()
    await ending_runs.open()
    ending_runs.now += KEPT - 1
    assert (await ending_runs.start(idempotencyKey="k"))["runId"] == first["runId"]
    ending_runs.now += 2
    later = await ending_runs.start(idempotencyKey="k")
    assert later["runId"] != first["runId"]
    assert (await ending_runs.start(idempotencyKey="k"))["runId"] == later["runId"]


async def test_WB_168_each_user_has_their_own_keys(ending_runs: EndingRuns) -> None:
    started = [await ending_runs.start(user, idempotencyKey="k") for user in (None, "eve", "owner", "")]
    assert len({answer["runId"] for answer in started}) == 4


async def test_WB_168_a_refused_start_uses_no_key_up(ending_runs: EndingRuns) -> None:
    assert not (await ending_runs.start(idempotencyKey="k", limits=1))["ok"]
    assert (await ending_runs.start(idempotencyKey="k"))["ok"]


@pytest.mark.parametrize("key", ["", "x" * 256, "\u00fc", "a\nb", 7])
async def test_WB_168_a_key_that_is_none_is_refused(ending_runs: EndingRuns, key: Any) -> None:
    assert (await ending_runs.start(idempotencyKey=key))["code"] == "bad_argument"
