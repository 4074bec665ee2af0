"""Lives of an engine, each in a process of its own that is forked from here, so that none waits for imports.

`python fork_server.py`: one JSON object a line on standard input (`{folder, database, scenario, kind, when}`), one
`{status}` a line on standard output. A life ends itself with SIGKILL right before, or right after, the first
transaction with a fact of `kind`; without `kind` it ends when the run has ended.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import dbos  # noqa: F401 - once, before lives are forked

from loop_ls.engine.bodies.workflow import WorkflowProgram
from loop_ls.engine.core.ports import ModelFailure, ModelReply, ModelRequest, Waiting
from loop_ls.engine.durable.workers import PostgresWorkers
from loop_ls.engine.journal import Entry, Row, SqliteStorage
from loop_ls.engine.journal.postgres import PostgresStorage
from loop_ls.engine.service import Engine
from loop_ls.engine.starting.workflow import WorkflowPreparer

PASSES_IN = 4
#: scenario -> the call that waits until the person has done something, and what that is.
PEOPLE = {
    "met": ("develop/1/review", "pause", "paused"),
    "stopped": ("develop/2/write", "stop", "stopping"),
    "circles": ("develop/1/review", "change", "loop_updated"),
}
#: What one call of `circles` takes, and all of them may: it warns of its cap, and then reaches it.
TOKENS, CAP = 1500, 20_000
ENDS = ("completed", "failed", "cancelled")


class EngineChild:
    def __init__(self, order: dict[str, Any]) -> None:
        self.folder = Path(order["folder"])
        self.scenario, self.kind, self.when = order["scenario"], order["kind"], order["when"]
        self.call, self.verb, self.said = PEOPLE.get(self.scenario, ("", "", ""))
        self.held, self.obeyed, self.ended = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self.run_id = ""
        data, database = self.folder / "data", order["database"]
        life = self

        class Dying:
            def write(self, batch: Sequence[Entry]) -> list[list[Row]]:
                there = any(kind == life.kind for entry in batch for kind, _ in entry.facts)
                if there and life.when == "before":
                    die()
                rows = super().write(batch)  # type: ignore[misc]
                if there:
                    die()
                return rows  # type: ignore[no-any-return]

        class DyingSqlite(Dying, SqliteStorage): ...

        class DyingPostgres(Dying, PostgresStorage): ...

        preparer = WorkflowPreparer(data, lambda workspace, documents: [[] for _ in documents])
        if database:
            self.engine = Engine(
                data,
                {"workflow": WorkflowProgram()},
                lambda plan: self,  # type: ignore[arg-type,return-value]
                preparer,
                storage=lambda: DyingPostgres(database),
                workers=lambda made: PostgresWorkers(made, beat=0.05, lease=0.2),
            )
        else:
            path = data / "journal.db"
            programs = {"workflow": WorkflowProgram()}
            self.engine = Engine(data, programs, lambda plan: self, preparer, storage=lambda: DyingSqlite(path))  # type: ignore[arg-type,return-value]

    async def live(self) -> None:
        await self.engine.open()
        listening = asyncio.create_task(self.listen())
        if not (await self.engine.runs())["runs"]:
            project = self.folder / "project"
            limits = {"limits": {"maxTokens": CAP}} if self.scenario == "circles" else {}
            path = str(project / "main.yaml")
            answer = await self.engine.start({"root": str(project), "path": path, "input": "x", **limits})
            assert answer["ok"], answer
        acting = asyncio.create_task(self.act())
        await asyncio.wait_for(self.ended.wait(), 60)
        for task in (listening, acting):
            task.cancel()
        await self.engine.close()

    async def listen(self) -> None:
        """From the first fact, as somebody who has just come."""
        async for _, event in self.engine.subscribe(0):
            self.run_id = event["runId"]
            if event["kind"] == self.said:
                self.obeyed.set()
            if event["kind"] == "paused":
                asyncio.get_running_loop().call_soon(self.go_on)
            if event["kind"] in ENDS:
                self.ended.set()

    def go_on(self) -> None:
        self.resuming = asyncio.create_task(self.engine.control("resume", self.run_id))

    async def act(self) -> None:
        await self.held.wait()
        if self.obeyed.is_set():
            return
        if self.verb == "change":
            await self.engine.change(self.run_id, {"labels": ["seen"]})
        else:
            await self.engine.control(self.verb, self.run_id)

    # -- the provider: its log is its own, the engine's word is not needed ------------------------------

    def problem(self, name: str) -> ModelFailure | None:
        return None

    async def ask(
        self,
        request: ModelRequest,
        on_text: Callable[[str], None] | None = None,
        on_wait: Callable[[Waiting], None] | None = None,
    ) -> ModelReply:
        with (self.folder / "requests.log").open("a") as log:
            log.write(request.place + "\n")
        await asyncio.sleep(0)
        if request.place == self.call and not self.obeyed.is_set():
            self.held.set()
            await (asyncio.Event().wait() if self.verb == "stop" else self.obeyed.wait())
        if self.fails(request):
            raise ModelFailure("server", "The provider is out of order.", provider="acme", model="m")
        cut_off = "length" if request.place == "prepare" else "stop"  # a warning
        tokens = TOKENS if self.scenario == "circles" else 10
        return ModelReply(self.answer(request), "acme", "m", tokens, tokens, 0.01, finish=cut_off)

    def fails(self, request: ModelRequest) -> bool:
        name = request.place.rpartition("/")[2]
        if self.scenario == "failed":
            return name == "review"
        return self.scenario == "met" and request.place == "develop/2/review"

    def answer(self, request: ModelRequest) -> str:
        if request.purpose == "judge":
            number = int(request.place.partition(":")[0].rpartition("/")[2].partition(".")[0])
            return "YES" if number >= PASSES_IN else "NO"
        repeats = self.scenario == "circles" or request.place.startswith("develop/3")
        return "the same" if repeats else f"answer for {request.place}"


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def live(line: str) -> None:
    order = json.loads(line)
    log = os.open(Path(order["folder"]) / "stderr.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(log, 2)
    status = 1
    try:
        asyncio.run(EngineChild(order).live())
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(status)


def main() -> None:
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            live(line)
        _, status = os.waitpid(child, 0)
        print(json.dumps({"status": os.waitstatus_to_exitcode(status)}), flush=True)


main()
