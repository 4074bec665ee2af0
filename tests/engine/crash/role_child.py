"""An engine with one role loop, in a process of its own that kills itself with SIGKILL before or after the
transaction with the first fact of a kind.

`python role_child.py FOLDER KIND WHEN`: starts the loop of FOLDER/project, or goes on with the one of
FOLDER/data. The provider logs every request to FOLDER/requests.log; without KIND nobody dies.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from loop_ls.engine.core.messages import ToolCall
from loop_ls.engine.core.ports import ModelFailure, ModelReply, ModelRequest
from loop_ls.engine.journal import Entry, Row, SqliteStorage
from loop_ls.engine.roles.program import RoleLoopProgram
from loop_ls.engine.roles.records.records import Records
from loop_ls.engine.roles.stage_agents import stage_agents
from loop_ls.engine.service import Engine
from loop_ls.engine.starting.role_loop import RoleLoopPreparer

FOLDER, KIND, WHEN = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
ENDS = ("completed", "failed", "cancelled")


class DyingStorage(SqliteStorage):
    def write(self, batch: Sequence[Entry]) -> list[list[Row]]:
        there = bool(KIND) and any(kind == KIND for entry in batch for kind, _ in entry.facts)
        if there and WHEN == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        rows = super().write(batch)
        if there:
            os.kill(os.getpid(), signal.SIGKILL)
        return rows


class Provider:
    """Plans with a tool; the reviewer approves the second round."""

    def problem(self, name: str) -> ModelFailure | None:
        return None

    async def ask(self, request: ModelRequest, *others: Any) -> ModelReply:
        with (FOLDER / "requests.log").open("a") as log:
            log.write(f"{request.place} {len(request.turns)}\n")
        if request.place.endswith("/plan") and not request.turns:
            call = ToolCall("1", "file_list", {}, "{}")
            return ModelReply("", request.provider, request.model, calls=(call,))
        approved = request.place.endswith("/2/review")
        return ModelReply("APPROVED" if approved else f"text of {request.place}", request.provider, request.model)


async def main() -> None:
    data = FOLDER / "data"
    records = Records(data, time.time)
    engine = Engine(
        data,
        {"role_loop": RoleLoopProgram(records, stage_agents(records, {}))},
        lambda plan: Provider(),
        RoleLoopPreparer(data, {}, records),
        storage=lambda: DyingStorage(data / "journal.db"),
        home=FOLDER / "project",
    )
    await engine.open()
    if not (await engine.runs())["runs"]:
        answer = await engine.start({"definition": "pair", "goal": "Go.", "sessionId": "mine"})
        assert answer["ok"], answer
    async with asyncio.timeout(60):
        async for _, event in engine.subscribe(0):
            if event["kind"] in ENDS:
                break
    await engine.close()


asyncio.run(main())
os._exit(0)
