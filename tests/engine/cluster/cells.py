"""Several engines of one process on one database, and a provider that remembers what it was asked."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from loop_ls.engine.core.location import Place
from loop_ls.engine.core.loop_driver import History, Limits, LoopParts, Outcome, Turn, Verdict, drive
from loop_ls.engine.core.plan import Plan
from loop_ls.engine.core.ports import Models, Recorder
from loop_ls.engine.core.preparer import Prepared
from loop_ls.engine.core.start_request import StartRequest
from loop_ls.engine.durable.postgres_cluster import PostgresCrew
from loop_ls.engine.events.kinds import Judged, RunStarted
from loop_ls.engine.journal.postgres import PostgresStorage
from loop_ls.engine.service import Engine
from loop_ls.testing.models import ScriptedModels
from loop_ls.testing.proxy import Proxy

BEAT, LEASE = 0.1, 0.6


class World:
    """A loop of `iterations` with two calls each. `paid` counts every call that was made, by run and key."""

    def __init__(self, iterations: int = 3, seconds: float = 0.0) -> None:
        self.iterations, self.seconds = iterations, seconds
        self.paid: Counter[str] = Counter()
        self.at: dict[str, str] = {}  # call -> engine that made it last

    async def pay(self, recorder: Recorder, key: str, cell: str, said: str) -> str:
        self.paid[f"{recorder.run_id} {key}"] += 1
        self.at[f"{recorder.run_id} {key}"] = cell
        await asyncio.sleep(self.seconds)
        return said


class Cell:
    """One engine. `proxy`: its network can be cut."""

    def __init__(self, name: str, folder: Path, url: str, world: World, proxy: Proxy | None = None) -> None:
        self.name, self.world, self.why = name, world, ""
        parts = urlsplit(url)
        reached = parts._replace(netloc=f"{parts.username}@127.0.0.1:{proxy.port}").geturl() if proxy else url
        self.storage: PostgresStorage | None = None

        def storage() -> PostgresStorage:
            self.storage = PostgresStorage(reached)
            return self.storage

        def outdated(why: str) -> None:
            self.why = why

        self.engine = Engine(
            folder / name,
            {"workflow": self},
            lambda plan: Door(),
            self,
            storage=storage,
            crew=lambda made: PostgresCrew(made, BEAT, LEASE),  # type: ignore[arg-type]
        )
        self.engine.outdated = outdated

    async def prepare(self, request: StartRequest, models: Any) -> Prepared:
        return Prepared(RunStarted(format="workflow", name="w", target={"kind": "workflow"}, path=request.path))

    async def run(self, plan: Plan, recorder: Recorder, models: Models) -> Outcome:
        world, name = self.world, self.name

        class Parts:
            async def run(self, turn: Turn) -> str:
                key = turn.place.part("ask")
                return str(await recorder.call(key, lambda: world.pay(recorder, key, name, f"output of {key}")))

            async def judge(self, turn: Turn, output: str) -> Verdict:
                key = turn.place.part("judge")
                judged = Judged(criterion="until", verdict="no", output_ref=turn.place.key)
                await recorder.call(
                    key, lambda: world.pay(recorder, key, name, "NO"), lambda said: [judged.fact(turn.place)]
                )
                return Verdict("no")

        parts, place = Parts(), Place().element("develop")
        return await drive(LoopParts("develop", place, parts, History(), Limits(world.iterations), parts), recorder)

    async def start(self, count: int = 1) -> list[str]:
        found = []
        for _ in range(count):
            answer = await self.engine.start({"root": "/", "path": "/w.yaml"})
            assert answer["ok"], answer
            found.append(answer["runId"])
        return found

    async def ended(self, runs: list[str], patience: float = 30.0) -> None:
        """Wait until this engine has heard of the end of all these runs."""
        left = set(runs)
        async with asyncio.timeout(patience):
            async for _, event in self.engine.subscribe(0):
                if event["kind"] in ("completed", "failed", "cancelled"):
                    left.discard(event["runId"])
                if not left:
                    return

    async def facts(self, run_id: str) -> list[dict[str, Any]]:
        return list((await self.engine.events(run_id, 0, 1000))["events"])


class Door(ScriptedModels):
    def problem(self, name: str) -> None:
        return None


def check(facts: list[dict[str, Any]], iterations: int) -> None:
    """No gap, no double, and every iteration and verdict once."""
    assert [fact["seq"] for fact in facts] == list(range(1, len(facts) + 1))
    kinds = Counter(fact["kind"] for fact in facts)
    assert (kinds["iteration"], kinds["judged"], kinds["completed"]) == (iterations, iterations, 1), kinds
