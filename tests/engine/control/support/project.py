"""A project on disk, its data folder, and an engine over them whose models are scripted."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from loop_ls.app.engine import validate
from loop_ls.engine.bodies.workflow import WorkflowProgram
from loop_ls.engine.service import Engine
from loop_ls.engine.starting.workflow import WorkflowPreparer
from loop_ls.testing.models import ScriptedModels
from loop_ls.testing.workflows import whole

Answer = dict[str, Any]
ENDS = ("completed", "failed", "cancelled")

EXECUTION = "execution: {provider: ollama, model: m, max_tokens: 100}\n"
DRAFT = EXECUTION + 'steps:\n  - {name: write, run: "Write better than: {{before}}"}\n'
POLISH = EXECUTION + (
    "loops:\n"
    "  - name: polish\n"
    "    workflow: draft\n"
    '    with: {before: "{{loop.last.output}}"}\n'
    "    max_iterations: 5\n"
    "    until: The draft is good\n"
)


class Project:
    """`files` are workflows by name; `polish` loops over `draft` unless they say otherwise."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.root, self.data = folder, folder / "project", folder / "data"
        self.root.mkdir()
        self.models = ScriptedModels({"judge": ["NO"]})
        self.engine: Engine | None = None
        self.write(draft=DRAFT, polish=POLISH)

    def write(self, **files: str) -> None:
        for name, text in files.items():
            (self.root / f"{name}.yaml").write_text(whole(name, text))

    def settings(self, text: str) -> None:
        (self.root / ".loop-ls.yaml").write_text(text)

    async def open(self, **others: Any) -> Engine:
        self.data.mkdir(exist_ok=True)
        preparer = WorkflowPreparer(self.data, validate, {})
        self.engine = Engine(self.data, {"workflow": WorkflowProgram()}, lambda plan: self.models, preparer, **others)
        await self.engine.open()
        return self.engine

    async def close(self) -> None:
        if self.engine is not None:
            await self.engine.close()

    async def start(self, name: str = "polish", **others: Any) -> Answer:
        assert self.engine is not None
        path = str(self.root / f"{name}.yaml")
        return await self.engine.start({"root": str(self.root), "path": path, "input": "x", **others})

    async def ended(self, run_id: str) -> list[Answer]:
        """All facts of a run, once it has ended."""
        assert self.engine is not None
        async with asyncio.timeout(60):
            async for _, event in self.engine.subscribe(after=0, run_id=run_id):
                if event["kind"] in ENDS:
                    break
        return list((await self.engine.events(run_id, limit=1000))["events"])

    async def run(self, name: str = "polish", **others: Any) -> list[Answer]:
        answer = await self.start(name, **others)
        assert answer["ok"], answer
        return await self.ended(answer["runId"])

    async def state(self, run_id: str) -> Answer:
        assert self.engine is not None
        return dict((await self.engine.state(run_id))["state"])
