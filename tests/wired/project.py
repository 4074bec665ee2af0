"""A project on disk and the engine of the product over it; models answer from a script and keep every request."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from loop_ls.app.engine import build
from loop_ls.client.consent import agreed
from loop_ls.engine.core.plan import Plan
from loop_ls.engine.providers.keys import Keys
from loop_ls.engine.service import Engine
from loop_ls.testing.models import ScriptedModels
from tests.wired.row import Row

Json = dict[str, Any]
SECONDS = 60.0
#: A run that waits for somebody is not waited for.
ENDS = ("completed", "failed", "cancelled", "paused")


@dataclass
class Ended:
    """A start that was refused (`answer` says why), or a run that is over."""

    answer: Json
    models: ScriptedModels
    facts: list[Json] = field(default_factory=list)

    @property
    def first(self) -> Json:
        return self.facts[0]

    @property
    def end(self) -> Json:
        return self.facts[-1]

    def of(self, kind: str) -> list[Json]:
        return [fact for fact in self.facts if fact["kind"] == kind]


class _SameModels:
    """Stands in for the providers: the models of the run that is under way."""

    def __init__(self) -> None:
        self.models, self.keys = ScriptedModels(), Keys({})

    def for_plan(self, plan: Plan) -> _SameModels:
        return self

    def __getattr__(self, name: str) -> Any:
        return getattr(self.models, name)


class WiredProject:
    """`open` it first; one run after the other."""

    def __init__(self, folder: Path) -> None:
        self.root, self.data, self._models = folder / "project", folder / "data", _SameModels()
        self.root.mkdir()
        self.engine: Engine

    def write(self, path: str, text: str) -> Path:
        there = self.root / path
        there.parent.mkdir(parents=True, exist_ok=True)
        there.write_text(text)
        return there

    async def open(self) -> None:
        self.engine = build(self.data, self._models, self.root)  # type: ignore[arg-type]
        await self.engine.open()

    async def close(self) -> None:
        await self.engine.close()

    async def run(self, path: str, script: Json | None = None, **request: Any) -> Ended:
        """Start a file, agreeing to what it may do, and wait for its end."""
        models = self._models.models = ScriptedModels(script)
        asked = {"root": str(self.root), "path": str(self.root / path), **request}
        answer = await self.engine.start(asked)
        if answer.get("code") == "consent_required":
            answer = await self.engine.start({**asked, "consent": agreed(self.data, answer)})
        if not answer["ok"]:
            return Ended(dict(answer), models)
        run_id = str(answer["runId"])
        async with asyncio.timeout(SECONDS):
            async for _, event in self.engine.subscribe(after=0, run_id=run_id):
                if event.get("blocked"):
                    await self.engine.answer(run_id, {"answer": "reject"})
                if event["kind"] in ENDS:
                    break
        found = await self.engine.events(run_id, limit=1000)
        await self.engine.control("stop", run_id)
        return Ended(dict(answer), models, list(found["events"]))


async def wrong(
    rows: Iterable[Row],
    run: Callable[[Row, str], Awaitable[Ended]],
    alike: Callable[[Row], Hashable] = lambda row: row.key,
) -> str:
    """What was not seen as it should have been, a line each; `run` runs the text of a row. Rows that are `alike` share
    the run of the same text: without their keys, many are the same."""
    found: list[str] = []
    runs: dict[Hashable, Ended] = {}
    for row in rows:
        for text, expected in row.twins:
            if (alike(row), text) not in runs:
                runs[alike(row), text] = await run(row, text)
            ran = runs[alike(row), text]
            try:
                seen = row.sees(ran)
            except (LookupError, AttributeError, TypeError) as error:
                seen = f"{error!r} in {ran.answer}"
            if seen != expected:
                ended = ran.facts[-1] if ran.facts else ran.answer
                found.append(f"{row.key}: {seen!r}, not {expected!r}, of {text}, which ended as {ended}")
    return "\n".join(found)
