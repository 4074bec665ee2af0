"""A workspace with one assistant and a fake agent, and loops run in the whole engine over it."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from loop_ls.app.engine import validate
from loop_ls.client.consent import agreed
from loop_ls.engine.assistants.program import AssistantProgram
from loop_ls.engine.service import Engine
from loop_ls.engine.starting.assistant import AssistantPreparer
from loop_ls.engine.starting.by_format import ByFormat
from loop_ls.engine.starting.role_loop import RoleLoopPreparer
from loop_ls.testing.models import ScriptedModels
from tests.engine.runners.support.agents import FakeAgent

ENDS = ("completed", "failed", "cancelled")
PATH = "fixer.assistant.json"

#: A run beside it that ends between question and answer makes it another question.
ASKED_AGAIN = 10


class EngineProject:
    """`assistant` are the keys of the file; `agent` says what its script says."""

    def __init__(self, folder: Path, environ: dict[str, str] | None = None) -> None:
        self.root, self.data = folder / "project", folder / "data"
        self.root.mkdir(parents=True, exist_ok=True)
        self.agent = FakeAgent(folder / "agent")
        self.models = ScriptedModels({})
        self.environ = environ
        self.pattern_limit = 5.0
        self.engine: Engine | None = None
        self.clock: Callable[[], float] = time.time
        self.assistant: dict[str, Any] = {
            "name": "Fixer",
            "persona": "You repair.",
            "loopEnabled": True,
            "maxIterations": 3,
        }
        self.settings: dict[str, Any] = {"providers": self.agent.settings}
        self.write()

    def write(self, **keys: Any) -> None:
        """The file and the settings as they are now; None removes a key."""
        self.assistant = {name: value for name, value in (self.assistant | keys).items() if value is not None}
        (self.root / PATH).write_text(json.dumps(self.assistant))
        (self.root / ".loop-ls.yaml").write_text(json.dumps(self.settings))

    def criterion(self, type_: str, value: str = "", more: dict[str, Any] | None = None, **keys: Any) -> None:
        self.write(loopCriteria={"type": type_, "value": value, **(more or {})}, **keys)

    async def open(self) -> Engine:
        own = AssistantPreparer(self.data, validate, {})
        preparer = ByFormat({"assistant": own, "role_loop": RoleLoopPreparer(self.data, {})})
        programs = {"assistant": AssistantProgram(self.environ, self.pattern_limit)}
        self.engine = Engine(
            self.data, programs, lambda plan: self.models, preparer, home=self.root, clock=lambda: self.clock()
        )
        await self.engine.open()
        return self.engine

    async def start(self, message: str | None = "do it", consent: bool = True, **more: Any) -> dict[str, Any]:
        engine = self.engine or await self.open()
        request = {"root": str(self.root), "path": str(self.root / PATH), "target": {"kind": "assistant"}, **more}
        if message is not None:
            request["message"] = message
        answer = await engine.start(request)
        for _ in range(ASKED_AGAIN if consent else 0):
            if answer.get("code") != "consent_required":
                break
            answer = await engine.start({**request, "consent": agreed(self.data, answer)})
        return answer

    async def started(self, message: str = "do it", **more: Any) -> str:
        answer = await self.start(message, **more)
        assert answer["ok"], answer
        return str(answer["runId"])

    async def run(self, message: str = "do it", **more: Any) -> Facts:
        return await self.ended(await self.started(message, **more))

    async def allowed(self, run_id: str) -> Facts:
        """Let protected files be as they are that were touched -> the facts at the end."""
        asked = await self.until_kind(run_id, "manual_approval_required")
        assert self.engine is not None and asked["protected"]
        await self.engine.approve(run_id, asked["loopId"], True)
        return await self.ended(run_id)

    async def ended(self, run_id: str) -> Facts:
        await self.until(run_id, lambda event: event["kind"] in ENDS)
        assert self.engine is not None
        answer = await self.engine.events(run_id, limit=1000)
        return Facts(list(answer["events"]))

    async def until(self, run_id: str, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """The first fact of the run that is wanted."""
        assert self.engine is not None
        async with asyncio.timeout(60):
            async for _, event in self.engine.subscribe(after=0, run_id=run_id):
                if wanted(event):
                    return event
        raise AssertionError("the engine ended before")

    async def until_kind(self, run_id: str, kind: str, **fields: Any) -> dict[str, Any]:
        return await self.until(run_id, lambda e: e["kind"] == kind and fields.items() <= e.items())

    async def state(self, run_id: str) -> dict[str, Any]:
        assert self.engine is not None
        return dict((await self.engine.state(run_id))["state"])

    async def calls(self, count: int) -> list[dict[str, Any]]:
        """What the agent was told, once it was started so often."""
        async with asyncio.timeout(60):
            while len(self.agent.calls) < count:
                await asyncio.sleep(0.005)
        return self.agent.calls

    async def close(self) -> None:
        if self.engine is not None:
            await self.engine.close()
            self.engine = None


class Facts(list[dict[str, Any]]):
    """All facts of one run that has ended."""

    def of(self, kind: str) -> list[dict[str, Any]]:
        return [fact for fact in self if fact["kind"] == kind]

    @property
    def end(self) -> dict[str, Any]:
        return self[-1]

    @property
    def outputs(self) -> list[str]:
        return [fact["output"] for fact in self.of("iteration")]
