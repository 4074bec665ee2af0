"""A workspace with role loops, a data folder, and the engine over both; models answer from a script."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from loop_ls.client.consent import agreed
from loop_ls.engine.projections.history import iterations
from loop_ls.engine.roles.program import RoleLoopProgram, StageAgentsOf
from loop_ls.engine.roles.records.records import Records
from loop_ls.engine.roles.stage_agents import stage_agents
from loop_ls.engine.service import Engine
from loop_ls.engine.starting.by_format import ByFormat
from loop_ls.engine.starting.role_loop import RoleLoopPreparer
from loop_ls.testing.models import ScriptedModels

Json = dict[str, Any]
ENDS = ("completed", "failed", "cancelled")
SETTINGS = "assist: {provider: ollama, model: small}\n"

PAIR: Json = {
    "name": "pair",
    "description": "One writes, one judges.",
    "roles": [
        {"name": "write", "role": "coder", "prompt": "Write."},
        {"name": "judge-it", "role": "reviewer", "prompt": "Judge. Say APPROVED or what is missing."},
    ],
    "termination_condition": {
        "type": "evaluation_bound",
        "value": {"criteria": "It is good.", "max_review_rounds": 3},
    },
}


class EngineProject:
    def __init__(self, folder: Path) -> None:
        self.root, self.data = folder / "project", folder / "data"
        (self.root / "loops").mkdir(parents=True)
        (self.root / ".loop-ls.yaml").write_text(SETTINGS)
        self.models = ScriptedModels({"write": "text", "judge-it": "APPROVED"})
        self.now: Callable[[], float] = time.time
        self.engines: list[Engine] = []

    def say(self, **answers: Any) -> None:
        """What the stages (and `judge`) answer: a text, or one for each time; `-` in labels is `_`."""
        for name, told in answers.items():
            self.models.script[name.replace("_", "-")] = told if isinstance(told, list) else [told]

    def define(self, name: str = "pair", /, **changes: Any) -> Json:
        """Write a definition: the pair with some keys changed; None leaves a key out."""
        told = {**PAIR, "name": name, **changes}
        told = {key: value for key, value in told.items() if value is not None}
        self.write(f"loops/{name}.json", json.dumps(told))
        return told

    def write(self, path: str, text: str) -> None:
        there = self.root / path
        there.parent.mkdir(parents=True, exist_ok=True)
        there.write_text(text)

    async def open(self, stage_agents_of: StageAgentsOf | None = None) -> Engine:
        self.records = Records(self.data, lambda: self.now())
        self.preparer = RoleLoopPreparer(self.data, {}, self.records)
        program = RoleLoopProgram(
            self.records, stage_agents_of or stage_agents(self.records, {"PATH": "/usr/bin:/bin"})
        )
        engine = Engine(
            self.data,
            {"role_loop": program},
            lambda plan: self.models,
            ByFormat({"role_loop": self.preparer}),
            clock=lambda: self.now(),
            home=self.root,
        )
        engine.forgotten.append(self.records.forget)
        engine.records = self.records
        await engine.open()
        self.engines.append(engine)
        return engine

    @property
    def engine(self) -> Engine:
        return self.engines[-1]

    async def close(self) -> None:
        for engine in self.engines:
            await engine.close()

    async def ask(self, definition: str = "pair", /, goal: str | None = "Do it.", **others: Any) -> Json:
        """Start it, agreeing to what it may do; the answer, whatever it is."""
        request = {"definition": definition, "goal": goal, "root": str(self.root), **others}
        request = {name: value for name, value in request.items() if value is not None}
        answer = await self.engine.start(request)
        if answer.get("code") == "consent_required":
            shown = await self.engine.start({**request, "origin": "cli"})  # only the owner is asked
            answer = await self.engine.start({**request, "consent": agreed(self.data, shown)})
        return answer

    async def start(self, definition: str = "pair", /, **others: Any) -> str:
        answer = await self.ask(definition, **others)
        assert answer["ok"], answer
        return str(answer["runId"])

    async def run(self, definition: str = "pair", /, **others: Any) -> Json:
        """Start it and wait for its end -> the state."""
        return await self.ended(await self.start(definition, **others))

    async def allowed(self, run_id: str) -> Json:
        """Let protected files be as they are that were touched -> the state at the end."""
        asked = await self.until(run_id, "manual_approval_required")
        await self.engine.approve(run_id, asked["loopId"], True)
        return await self.ended(run_id)

    async def given_up(self, definition: str = "pair", /, **others: Any) -> Json:
        """Start it, and answer what it cannot continue without: no -> the state at the end."""
        run_id = await self.start(definition, **others)
        await self.until(run_id, "manual_approval_required", blocked=True)
        assert (await self.engine.answer(run_id, {"answer": "reject"}))["ok"]
        return await self.ended(run_id)

    async def ended(self, run_id: str) -> Json:
        await self.until(run_id, *ENDS)
        return await self.state(run_id)

    async def until(self, run_id: str, *kinds: str, **fields: Any) -> Json:
        async def seen() -> Json:
            async for _, event in self.engine.subscribe(after=0, run_id=run_id):
                if event["kind"] in kinds and all(event.get(name) == value for name, value in fields.items()):
                    return event
            raise AssertionError(f"no {kinds}")

        return await asyncio.wait_for(seen(), 60)

    async def state(self, run_id: str) -> Json:
        return dict((await self.engine.state(run_id))["state"])

    async def facts(self, run_id: str, *kinds: str) -> list[Json]:
        events = (await self.engine.events(run_id, limit=1000))["events"]
        return [event for event in events if not kinds or event["kind"] in kinds]

    async def rows(self, run_id: str) -> list[Json]:
        return iterations(run_id, await self.facts(run_id))

    async def records_of(self, table: str, **where: Any) -> list[Json]:
        return await self.records.do(lambda rows: rows.find(table, **where))


@pytest.fixture
async def project(tmp_path: Path) -> AsyncIterator[EngineProject]:
    made = EngineProject(tmp_path)
    made.define()
    await made.open()
    yield made
    await made.close()
