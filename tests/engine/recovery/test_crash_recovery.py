"""Runs that come back: those that wait for a person are there at once, and what drives them comes when needed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from loop_ls.contract.facts.kinds import ManualApprovalRequired, RunStarted
from loop_ls.engine.core.location import Place
from loop_ls.engine.core.loop_driver import Outcome
from loop_ls.engine.core.plan import Plan
from loop_ls.engine.core.ports import Models, Recorder
from loop_ls.engine.core.preparer import Prepared
from loop_ls.engine.core.start_request import StartRequest
from loop_ls.engine.recovery import crash_recovery
from loop_ls.engine.service import Engine
from loop_ls.testing.models import ScriptedModels

COUNT = 12


class Asking:
    """A program that asks a person (`ask.yaml`), or does a call that ends when it is let (`call.yaml`)."""

    def __init__(self) -> None:
        self.driven: list[str] = []
        self.go = asyncio.Event()
        self.called = asyncio.Event()

    async def prepare(self, request: StartRequest, models: Any) -> Prepared:
        return Prepared(RunStarted(format="workflow", name="w", target={"kind": "workflow"}, path=request.path))

    async def run(self, plan: Plan, recorder: Recorder, models: Models) -> Outcome:
        self.driven.append(plan.run_id)
        place = Place().element("asks")
        if plan.path == "call.yaml":
            await recorder.call(place.part("call"), self.call)
            return Outcome("completed", "called")
        found = await recorder.approval(place, ManualApprovalRequired(iteration=1, output="", loop_id="l"))
        return Outcome("completed", found.decision)

    async def call(self) -> str:
        self.called.set()
        await self.go.wait()
        return "done"


class EngineProject:
    def __init__(self, folder: Path) -> None:
        self.folder, self.program, self.engines = folder, Asking(), list[Engine]()

    async def open(self) -> Engine:
        self.program = Asking()
        engine = Engine(self.folder, {"workflow": self.program}, lambda plan: ScriptedModels(), self.program)
        await engine.open()
        self.engines.append(engine)
        return engine

    async def filled(self) -> list[str]:
        """Runs that wait for a person in an engine that left."""
        engine = await self.open()
        runs = [(await engine.start({"root": "/tmp", "path": "ask.yaml"}))["runId"] for _ in range(COUNT)]
        await heard(engine, "manual_approval_required", COUNT)
        return runs


async def heard(engine: Engine, kind: str, count: int = 1, run_id: str | None = None) -> None:
    async with asyncio.timeout(60):
        async for _, event in engine.subscribe(0, run_id):
            count -= event["kind"] == kind
            if count == 0:
                return


@pytest.fixture
async def project(tmp_path: Path) -> AsyncIterator[EngineProject]:
    made = EngineProject(tmp_path / "data")
    yield made
    for engine in made.engines:
        await engine.close()


@pytest.fixture
def never(monkeypatch: pytest.MonkeyPatch) -> None:
    """The turn of a run that waits does not come by itself, but for that of the first."""
    monkeypatch.setattr(crash_recovery, "GAP", 3600.0)


@pytest.mark.usefixtures("never")
async def test_a_run_that_waits_is_driven_when_a_person_says_something_and_not_before(project: EngineProject) -> None:
    runs = await project.filled()
    before = project.engines[0]
    assert (await before.control("pause", runs[-3]))["ok"]
    await before.close()

    engine = await project.open()
    listed = (await engine.runs("active"))["runs"]
    assert [each["status"] for each in listed if each["runId"] in runs[-2:]] == ["waiting_approval"] * 2
    assert (await engine.approve(runs[-1], approved=True))["ok"]
    await heard(engine, "completed", run_id=runs[-1])
    assert (await engine.control("stop", runs[-2]))["ok"]
    await heard(engine, "cancelled", run_id=runs[-2])
    assert (await engine.control("resume", runs[-3]))["ok"]
    assert (await engine.approve(runs[-3], approved=False))["ok"]
    await heard(engine, "completed", run_id=runs[-3])

    assert sorted(project.program.driven) == sorted([runs[0], *runs[-3:]])  # each once, and nobody else


@pytest.mark.usefixtures("never")
async def test_a_run_that_works_goes_on_at_once_however_many_wait_before_it(project: EngineProject) -> None:
    runs = await project.filled()
    working = (await project.engines[0].start({"root": "/tmp", "path": "call.yaml"}))["runId"]
    await asyncio.wait_for(project.program.called.wait(), 60)
    await project.engines[0].close()

    engine = await project.open()
    project.program.go.set()
    await heard(engine, "completed", run_id=working)
    assert set(project.program.driven) <= {working, runs[0]}


async def test_all_come_by_themselves(project: EngineProject) -> None:
    runs = await project.filled()
    await project.engines[0].close()

    engine = await project.open()
    async with asyncio.timeout(60):
        while len(project.program.driven) < COUNT:
            await asyncio.sleep(0.01)
    assert sorted(project.program.driven) == sorted(runs)
    events = (await engine.events(runs[0]))["events"]
    assert [each["kind"] for each in events] == ["run_started", "manual_approval_required", "recovered"]


@pytest.mark.usefixtures("never")
async def test_an_engine_that_leaves_before_all_are_driven_loses_none(project: EngineProject) -> None:
    runs = await project.filled()
    await project.engines[0].close()
    await (await project.open()).close()

    engine = await project.open()
    listed = (await engine.runs("active"))["runs"]
    assert {each["runId"]: each["status"] for each in listed} == dict.fromkeys(runs, "waiting_approval")
