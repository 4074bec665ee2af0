"""The API over a real engine with a real journal; only what the runs do is made up here."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from loop_ls.client.engine_location import Handover, read_handover
from loop_ls.client.session import EngineClient
from loop_ls.contract.facts.kinds import Iteration, IterationStarted, Judged, RunStarted
from loop_ls.engine.api.app import Facts, application, workspace_id
from loop_ls.engine.api.presence import Presence
from loop_ls.engine.api.server import Listening, listen
from loop_ls.engine.core.errors import Refused
from loop_ls.engine.core.location import Place
from loop_ls.engine.core.loop_driver import Outcome
from loop_ls.engine.core.preparer import Prepared
from loop_ls.engine.core.start_request import StartRequest
from loop_ls.engine.core.users import Tokens
from loop_ls.engine.process import instance_lock as handover
from loop_ls.engine.process.instance_lock import DataFolder
from loop_ls.engine.providers import Providers
from loop_ls.engine.service import Engine

TOKEN = "token-for-tests-0123456789"


class Counting:
    """A program of as many iterations as its input says; with `hold` it waits in each one."""

    def __init__(self) -> None:
        self.hold = asyncio.Event()
        self.hold.set()

    async def run(self, plan: Any, recorder: Any, models: Any) -> Outcome:
        most = int(plan.input)
        for number in range(1, most + 1):
            place = Place().element("develop").turn("develop", number)
            await recorder.gate()
            started = IterationStarted(iteration=number, max_iterations=most).fact(place)
            await recorder.record(f"{place.key}:start", [started])
            recorder.stream(f"words of {number} ", place=place.key)

            async def work(number: int = number) -> dict[str, str]:
                await self.hold.wait()
                return {"text": f"output {number}"}

            verdict = "yes" if number == most else "no"
            facts = [
                Iteration(iteration=number, output=f"output {number}", max_iterations=most).fact(place),
                Judged(
                    criterion="until", verdict=verdict, iteration=number, condition="It is good", answer=verdict.upper()
                ).fact(place),
            ]
            await recorder.call(place.key, work, lambda answer, facts=facts: facts)
        return Outcome("condition_met", f"output {most}", most)


class Anything:
    """Accepts every start but those it is told to refuse."""

    def __init__(self) -> None:
        self.refusal: Refused | None = None

    async def prepare(self, request: StartRequest, models: Any) -> Prepared:
        if self.refusal is not None:
            raise self.refusal
        started = RunStarted(
            format="workflow",
            name="counting",
            target={"kind": "workflow"},
            path=request.path,
            uri=request.uri,
            root=str(request.root),
            input=request.input or "1",
            origin=request.origin,
            detach=request.detach,
        )
        return Prepared(started)


@dataclass
class EngineProject:
    """One engine that listens, and everything that tests want to touch of it."""

    engine: Engine
    program: Counting
    preparer: Anything
    folder: DataFolder
    presence: Presence
    handover: Handover
    left: asyncio.Event
    http: httpx.AsyncClient = field(repr=False)

    async def run(self, iterations: int = 3, **more: Any) -> str:
        path = self.folder.path / "w.yaml"
        path.write_text("x", "utf-8")
        argument = {"root": str(self.folder.path), "path": str(path), "input": str(iterations), **more}
        answer = await self.engine.start(argument)
        assert answer["ok"], answer
        return str(answer["runId"])

    async def ended(self, run_id: str) -> dict[str, Any]:
        async with asyncio.timeout(60):
            async for _, event in self.engine.subscribe(0, run_id):
                if event["kind"] in ("completed", "failed", "cancelled"):
                    break
        answer = await self.engine.state(run_id)
        return dict(answer["state"])


@asynccontextmanager
async def opened_project(
    path: Path,
    port: int = 0,
    grace: float | None = None,
    idle: float | None = None,
    engine: Engine | None = None,
) -> Any:
    """`engine`: another one than that with made-up runs."""
    program, preparer, left = Counting(), Anything(), asyncio.Event()
    folder = DataFolder(path)
    folder.take()
    providers = Providers({})
    engine = engine or Engine(path, {"workflow": program}, lambda plan: providers.models(), preparer, home=path)
    await engine.open()

    async def teardown() -> None:
        await engine.control("stop", "all", cause="teardown")

    async def busy() -> bool:
        return bool((await engine.runs("active"))["runs"])

    presence = Presence(teardown=teardown, busy=busy, leave=left.set, grace=grace, idle=idle)
    sock = listen(port)
    facts = Facts(TOKEN, workspace_id(str(path)), str(path), "2026-01-01T00:00:00.000Z", sock.getsockname()[1])
    listening = Listening(sock)
    await listening.start(application(engine, facts, presence, left.set, tokens=Tokens(path)))
    folder.hand_over(handover.Handover(facts.port, TOKEN, 1))
    presence.start()
    found = read_handover(path)
    assert found is not None
    headers = {"Authorization": f"Bearer {TOKEN}"}
    async with httpx.AsyncClient(
        base_url=found.url, headers=headers, trust_env=False, timeout=60, verify=False
    ) as http:
        try:
            yield EngineProject(engine, program, preparer, folder, presence, found, left, http)
        finally:
            folder.forget()
            await presence.aclose()
            await engine.close()
            await listening.stop()
            folder.release()


@pytest.fixture
async def project(tmp_path: Path) -> AsyncIterator[EngineProject]:
    async with opened_project(tmp_path) as made:
        yield made


@pytest.fixture
async def client(project: EngineProject) -> AsyncIterator[EngineClient]:
    async with EngineClient(project.folder.path, project.handover) as made:
        yield made


Houses = Callable[..., Any]
