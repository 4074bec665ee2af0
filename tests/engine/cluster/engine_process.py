"""The process that forks engines (`engine_processes.ForkServer`), and each of them: it obeys over a socket."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from functools import partialmethod
from pathlib import Path
from typing import Any

import dbos  # noqa: F401 - once, before engines are forked

from loop_ls.contract.facts.kinds import Call, Judged, ManualApprovalRequired, RunStarted, Tokens
from loop_ls.contract.facts.payload import Fact
from loop_ls.engine.core.location import Place
from loop_ls.engine.core.loop_driver import History, Limits, LoopParts, Outcome, Turn, Verdict, drive
from loop_ls.engine.core.plan import Plan
from loop_ls.engine.core.ports import ModelReply, ModelRequest, Models, Recorder
from loop_ls.engine.core.preparer import Prepared
from loop_ls.engine.core.start_request import StartRequest
from loop_ls.engine.durable.run_queue import RunQueue
from loop_ls.engine.durable.workers import PostgresWorkers
from loop_ls.engine.journal.postgres import PostgresStorage
from loop_ls.engine.service import Engine
from loop_ls.testing.models import ScriptedModels

PRICE = {"input": 0, "output": 10_000}
#: `takes` False: starts runs and brings none to its end. `skew`: how many seconds its clock is ahead. `dies`: is killed
#: when it finds a dead one, `before` or `after` it has put the runs of that one back into the queue.
DEFAULTS: dict[str, Any] = {"takes": True, "skew": 0.0, "dies": ""}


class EngineInProcess:
    def __init__(self, order: dict[str, Any]) -> None:
        order = {**DEFAULTS, **order}
        if order["skew"]:
            now = time.time
            time.time = lambda: now() + order["skew"]
        if order["dies"]:
            RunQueue.recover = partialmethod(_die, order["dies"], RunQueue.recover)  # type: ignore[method-assign]
        self.name, self.order, self.folder = order["name"], order, Path(order["folder"])
        self.why = ""
        self.engine = Engine(
            self.folder / self.name,
            {"workflow": self},
            lambda plan: PaidModels(),
            self,
            clock=time.time,
            storage=lambda: PostgresStorage(order["url"]),
            workers=lambda made: PostgresWorkers(made, takes=order["takes"], beat=order["beat"], lease=order["lease"]),
        )
        self.engine.outdated = self.outdated

    def outdated(self, why: str) -> None:
        self.why = why

    # -- the program --------------------------------------------------------------------------------

    async def prepare(self, request: StartRequest, models: Any) -> Prepared:
        target, limits = {"kind": "workflow"}, self.order["limits"]
        settings = {} if limits is None else {"limits": limits, "providers": {"ollama": {"price": PRICE}}}
        return Prepared(
            RunStarted(format="workflow", name="w", target=target, root="/p", path=request.path, settings=settings)
        )

    async def run(self, plan: Plan, recorder: Recorder, models: Models) -> Outcome:
        if self.order["asks"]:
            return await self._asking(recorder)
        if self.order["limits"] is not None:
            return await self._paying(recorder, models)
        engine = self

        class Parts:
            async def run(self, turn: Turn) -> str:
                key = turn.place.part("ask")
                return str(await recorder.call(key, lambda: engine.pay(recorder, key, f"output of {key}")))

            async def judge(self, turn: Turn, output: str) -> Verdict:
                key = turn.place.part("judge")
                judged = Judged(criterion="until", verdict="no", output_ref=turn.place.key)
                await recorder.call(
                    key, lambda: engine.pay(recorder, key, "NO"), lambda said: [judged.fact(turn.place)]
                )
                return Verdict("no")

        parts, place = Parts(), Place().element("develop")
        limits = Limits(self.order["iterations"])
        return await drive(LoopParts("develop", place, parts, History(), limits, parts), recorder)

    async def _asking(self, recorder: Recorder) -> Outcome:
        turn = Place().element("develop").turn("develop", 1)
        draft = str(await recorder.call(turn.part("call"), lambda: self.pay(recorder, turn.part("call"), "draft")))
        asked = ManualApprovalRequired(iteration=1, output=draft, loop_id="develop", revise=True)
        answer = await recorder.approval(turn, asked)
        return Outcome("approved" if answer.approved else "rejected", str(answer.feedback))

    async def _paying(self, recorder: Recorder, models: Models) -> Outcome:
        place = Place().element("write")

        async def work() -> dict[str, Any]:
            await models.ask(ModelRequest("ollama", "m", "Write", max_tokens=60))
            await self.pay(recorder, place.key, "")
            return {"usd": 0.5}

        def facts(answer: dict[str, Any]) -> list[Fact]:
            tokens = Tokens(input=0, output=50)
            return [Call(provider="ollama", model="m", purpose="step", tokens=tokens, usd=answer["usd"]).fact(place)]

        await recorder.call(place.key, work, facts)
        return Outcome("completed", "")

    async def pay(self, recorder: Recorder, key: str, said: str) -> str:
        with (self.folder / "paid.log").open("a") as log:
            log.write(f"{recorder.run_id} {key} {self.name}\n")
        await asyncio.sleep(self.order["seconds"])
        return said

    # -- what a test may ask besides the engine's own methods -----------------------------------------

    async def heard(self, kinds: list[str], runs: list[str]) -> list[dict[str, Any]]:
        found: dict[str, dict[str, Any]] = {}
        async for _, event in self.engine.subscribe(0):
            if event["kind"] in kinds and event["runId"] in runs:
                found.setdefault(event["runId"], event)
            if len(found) == len(runs):
                break
        return [found[run_id] for run_id in runs]

    async def load(self) -> int:
        assert self.engine.member is not None
        return self.engine.member.load

    async def left(self) -> str:
        """Why it wants to leave."""
        return self.why

    async def answered(self, run_id: str) -> list[str]:
        return sorted(await self.engine.journal.read(lambda: self.engine.journal.storage.keys(run_id)[0]))

    async def live(self) -> None:
        await self.engine.open()
        reader, writer = await asyncio.open_connection("127.0.0.1", self.order["port"], limit=1 << 24)
        writer.write(json.dumps({"pid": os.getpid()}).encode() + b"\n")
        tasks = set()
        while line := await reader.readline():
            asked = json.loads(line)
            task = asyncio.create_task(self._answer(asked, writer))
            tasks.add(task)
            if asked["method"] == "close":
                await task
                await writer.drain()
                return
        await self.engine.close()

    async def _answer(self, asked: dict[str, Any], writer: asyncio.StreamWriter) -> None:
        own = {"heard": self.heard, "load": self.load, "left": self.left, "answered": self.answered}
        try:
            act = own.get(asked["method"]) or getattr(self.engine, asked["method"])
            told = {"answer": await act(*asked["given"], **asked["named"])}
        except Exception:
            told = {"fault": traceback.format_exc()}
        writer.write(json.dumps({"id": asked["id"], **told}).encode() + b"\n")


def _die(queue: RunQueue, moment: str, recover: Callable[..., None], executors: Sequence[str]) -> None:
    if moment == "after":
        recover(queue, executors)
    os.kill(os.getpid(), signal.SIGKILL)


class PaidModels(ScriptedModels):
    async def ask(self, request: ModelRequest, on_text: Any = None, on_wait: Any = None) -> ModelReply:
        return ModelReply("w", request.provider, request.model, 0, 50, 0.5)

    def problem(self, name: str) -> None:
        return None


def main() -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for line in sys.stdin:
        if os.fork() == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            try:
                asyncio.run(EngineInProcess(json.loads(line)).live())
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stderr.flush()
                os._exit(0)


if __name__ == "__main__":
    main()
