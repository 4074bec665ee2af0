"""Short words of these tests: start, wait for a fact, look at a status."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from loop_ls.engine.service import Engine

Opened = Callable[[Engine], Awaitable[Engine]]


async def until(engine: Engine, kind: str, run_id: str | None = None, number: int = 1) -> dict[str, Any]:
    """The `number`-th event of this kind, from the beginning of the journal."""
    async with asyncio.timeout(60):
        async for _, event in engine.subscribe(0, run_id):
            number -= event["kind"] == kind
            if number == 0:
                return event
    raise AssertionError(f"no {kind}")


async def status(engine: Engine, run_id: str) -> str:
    return str((await engine.state(run_id))["state"]["status"])


async def started(engine: Engine) -> str:
    answer = await engine.start({"root": "/tmp", "path": "w.yaml"})
    assert answer["ok"], answer
    return str(answer["runId"])
