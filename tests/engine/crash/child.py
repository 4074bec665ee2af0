"""An engine in a process of its own that kills itself, with SIGKILL, at a named point of a named call.

`python child.py FOLDER`: starts the workflow in FOLDER/project, or goes on with the run of FOLDER/data.
The provider logs every request to FOLDER/requests.log before it answers; what a listener hears goes to
FOLDER/heard.log, and a listener that comes back asks for everything after the last line there.
Environment: CRASH_AT (`before`, `begun`, `in_flight`, `answered`, `committed`, `paused`), CRASH_CALL
(a place; in a variable whose name ends in KEY it would count as a secret);
`leave` ends in order while the call is in progress.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from loop_ls.engine.bodies.workflow import WorkflowProgram
from loop_ls.engine.core.ports import ModelFailure, ModelReply, ModelRequest, Waiting
from loop_ls.engine.journal import Entry, Row, SqliteStorage
from loop_ls.engine.service import Engine
from loop_ls.engine.starting.workflow import WorkflowPreparer

FOLDER = Path(sys.argv[1])
POINT, KEY = os.environ.get("CRASH_AT", ""), os.environ.get("CRASH_CALL", "")
#: Steps are asked under a key of their own; judges are asked under that of their place.
RECORDED = KEY if ":" in KEY else f"{KEY}:ask"
MET_IN = 5


def die_at(point: str) -> None:
    if point == POINT:
        os.kill(os.getpid(), signal.SIGKILL)


class DyingStorage(SqliteStorage):
    """Kills the process right before, or right after, the transaction with the mark or answer of a call."""

    def write(self, batch: Sequence[Entry]) -> list[list[Row]]:
        begins = any(entry.key == RECORDED and entry.value is None for entry in batch)
        answers = any(entry.key == RECORDED and entry.value is not None for entry in batch)
        if begins:
            die_at("before")
        if answers:
            die_at("answered")
        rows = super().write(batch)
        if begins:
            die_at("begun")
        if answers:
            die_at("committed")
        return rows


class Provider:
    """Says NO until the fifth iteration. Its log is its own: the engine's word is not needed."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()
        self.answer = asyncio.Event()
        if POINT not in ("paused", "leave"):
            self.answer.set()

    def problem(self, name: str) -> ModelFailure | None:
        return None

    async def ask(
        self,
        request: ModelRequest,
        on_text: Callable[[str], None] | None = None,
        on_wait: Callable[[Waiting], None] | None = None,
    ) -> ModelReply:
        with (FOLDER / "requests.log").open("a") as log:
            log.write(request.place + "\n")
        if request.place == KEY:
            self.asked.set()
            die_at("in_flight")
            await self.answer.wait()
        if request.purpose == "judge":
            number = int(request.place.partition(":")[0].rpartition("/")[2])
            return ModelReply("YES" if number >= MET_IN else "NO", request.provider, request.model)
        return ModelReply(f"answer for {request.place}", request.provider, request.model)


async def listen(engine: Engine, run_ended: asyncio.Event) -> None:
    heard = FOLDER / "heard.log"
    lines = heard.read_text().splitlines() if heard.exists() else []
    after = json.loads(lines[-1])["position"] if lines else 0
    with heard.open("a") as log:
        async for position, event in engine.subscribe(after):
            if position:
                log.write(json.dumps(event) + "\n")
                log.flush()
                if event["kind"] in ("completed", "failed", "cancelled"):
                    run_ended.set()
                if POINT == "paused" and event["kind"] == "step_completed" and event["place"] == KEY:
                    die_at("paused")


async def main() -> None:
    provider, ended, data = Provider(), asyncio.Event(), FOLDER / "data"
    engine = Engine(
        data,
        {"workflow": WorkflowProgram()},
        lambda plan: provider,
        WorkflowPreparer(data, lambda workspace, documents: [[] for _ in documents]),
        storage=lambda: DyingStorage(data / "journal.db"),
    )
    await engine.open()
    listening = asyncio.create_task(listen(engine, ended))
    runs = (await engine.runs())["runs"]
    if not runs:
        project = FOLDER / "project"
        answer = await engine.start({"root": str(project), "path": str(project / "main.yaml"), "input": "x"})
        assert answer["ok"], answer
        if POINT == "paused":
            await provider.asked.wait()
            await engine.control("pause", answer["runId"])
            provider.answer.set()
        if POINT == "leave":
            await asyncio.wait_for(provider.asked.wait(), 60)
            listening.cancel()
            await engine.close()
            return
    elif runs[0]["status"] == "paused":
        (FOLDER / "came_back.log").write_text(json.dumps(runs[0]))
        await engine.control("resume", runs[0]["runId"])
    await asyncio.wait_for(ended.wait(), 60)
    listening.cancel()
    await engine.close()


asyncio.run(main())
