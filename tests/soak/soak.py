"""Many loops at once for a long time, with people who pause, resume and stop them at random, and a provider that
is busy, broken or cut off now and then.

    python -m tests.soak.soak [--minutes 30] [--loops 200] [--seconds 6] [--seed 1]

Holds: the engine's memory after the first fifth stays within 10 %, every run ends, no process is left behind,
and every run's stored state is the fold of its facts.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import statistics
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import psutil

from loop_ls.client import EngineClient, connect
from loop_ls.engine.events import Event, fold
from loop_ls.engine.journal import SqliteStorage
from loop_ls.engine.journal.serialization import unpack
from tests.soak.fleet import CYCLE, ENDS, HEAD, MAIN, SETTINGS
from tests.soak.model import ModelServer

#: What all children of the engine carry in their environment, whatever becomes of their parents.
MARK = "LOOP_LS_SOAK"
#: A busy machine takes longer than the time that was asked for until memory was looked at often enough.
SAMPLES = 8
MOODS = ["fine"] * 94 + ["busy"] * 3 + ["broken"] * 2 + ["cut"]


class Soak:
    def __init__(self, folder: Path, seconds: float, loops: int, call_seconds: float, seed: int) -> None:
        self.folder, self.seconds, self.loops = folder, seconds, loops
        self.random = random.Random(seed)
        self.model = ModelServer(6, call_seconds, lambda: self.random.choice(MOODS))
        self.live: set[str] = set()
        self.paused: set[str] = set()
        self.count = 0
        self.said: Counter[str] = Counter()
        self.memory: list[tuple[float, float]] = []

    async def run(self) -> dict[str, Any]:
        os.environ[MARK] = mark = f"{os.getpid()}-{time.time()}"
        await self.model.start()
        project = self.folder / "project"
        project.mkdir()
        main = MAIN.replace("max_iterations: 50", "max_iterations: 12\n    on_failure: retry")
        (project / "main.yaml").write_text(HEAD.format(name="main") + main)
        (project / "cycle.yaml").write_text(HEAD.format(name="cycle") + CYCLE)
        (project / ".loop-ls.yaml").write_text(SETTINGS % (self.model.url, 1000))
        client = await connect(project, str(self.folder / "data"))
        engine = psutil.Process(client.handover.pid)
        listening = asyncio.create_task(self.listen(client))
        try:
            await self.busy(client, engine, project)
            stuck = await self.over(client)
        finally:
            listening.cancel()
            await client.engine_stop()
            await client.aclose()
            self.model.close()
        engine.wait(60)
        return self.found(stuck, mark)

    async def listen(self, client: EngineClient) -> None:
        async for event in client.follow(0):
            if event["kind"] in ENDS:
                self.live.discard(event["runId"])
                self.paused.discard(event["runId"])
                self.said[event["kind"]] += 1

    async def busy(self, client: EngineClient, engine: psutil.Process, project: Path) -> None:
        began = time.monotonic()
        while (now := time.monotonic() - began) < self.seconds or len(self.steady) < SAMPLES:
            self.memory.append((now, engine.memory_info().rss / 1e6))
            for _ in range(min(self.loops - len(self.live), 20)):
                self.count += 1
                request = {
                    "origin": "cli",
                    "root": str(project),
                    "path": str(project / "main.yaml"),
                    "input": f"r{self.count}",
                }
                answer = await client.start({**request, "detach": True})
                if answer.get("code") == "consent_required":
                    answer = await client.start({**request, "consent": client.agree(answer), "detach": True})
                assert answer["ok"], answer
                self.live.add(answer["runId"])
            for _ in range(3):
                await self.somebody(client)
            await asyncio.sleep(self.random.uniform(0.1, 0.5))

    @property
    def steady(self) -> list[float]:
        """Megabytes of the engine after its warm-up."""
        return [rss for at, rss in self.memory if at > self.seconds * 0.2]

    async def somebody(self, client: EngineClient) -> None:
        """Somebody pauses, resumes or stops something; what makes no sense there is refused, not more."""
        if not self.live:
            return
        run_id = self.random.choice(sorted(self.live))
        match self.random.choice(["pause", "resume", "resume", "resume", "stop", "look"]):
            case "pause":
                answer = await client.pause(run_id)
                self.paused |= {run_id} if answer["ok"] else set()
            case "resume":
                run_id = self.random.choice(sorted(self.paused)) if self.paused else run_id
                answer = await client.resume(run_id)
                self.paused.discard(run_id)
            case "stop" if self.random.random() < 0.3:
                answer = await client.stop(run_id)
            case _:
                answer = await client.status(run_id)
        self.said["ok" if answer["ok"] else answer["code"]] += 1

    async def over(self, client: EngineClient) -> list[str]:
        """Let everything come to its end: the runs that do not."""
        self.model.mood = lambda: "fine"
        patience = time.monotonic() + max(120.0, 40 * self.model.seconds)
        while self.live and time.monotonic() < patience:
            await client.resume("all")
            await asyncio.sleep(0.5)
        active = (await client.runs("active", limit=1000))["runs"]
        return [state["runId"] for state in active]

    def found(self, stuck: list[str], mark: str) -> dict[str, Any]:
        steady = self.steady
        first = statistics.median(steady[: max(1, len(steady) // 8)])
        last = statistics.median(steady[-max(1, len(steady) // 8) :])
        return {
            "runs": self.count,
            "calls": sum(self.model.asked.values()),
            "said": dict(self.said),
            "memory after warm-up, at the end (MB)": [round(first, 1), round(last, 1)],
            "memory grew": round(last / first - 1, 3),
            "stuck": stuck,
            "left behind": left_behind(mark),
            "folds that differ": differing(self.folder / "data" / "journal.db"),
        }


def left_behind(mark: str) -> list[str]:
    found = []
    for process in psutil.process_iter():
        try:
            if process.pid != os.getpid() and process.environ().get(MARK) == mark:
                found.append(" ".join(process.cmdline()))
        except (psutil.AccessDenied, psutil.NoSuchProcess, psutil.ZombieProcess):
            continue
    return found


def differing(path: Path) -> list[str]:
    """Runs whose facts have a gap, no end or several, or do not fold to the state that the engine kept."""
    storage = SqliteStorage(path)
    found = []
    for row in storage.runs(None, 1_000_000):
        rows = storage.facts(row.run, 0, 1_000_000)
        events = [Event(r.run, r.seq, r.at, r.kind, unpack(r.body, storage.text), r.position) for r in rows]
        state = fold(events)._asdict()
        kept = unpack(row.snapshot, storage.text) if row.snapshot else None
        whole = [event.seq for event in events] == list(range(1, len(events) + 1))
        ends = sum(event.kind in ENDS for event in events)
        if not whole or ends != 1 or json.loads(json.dumps(state)) != kept:
            found.append(row.run)
    storage.close()
    return found


def wrong(found: dict[str, Any], growth: float = 0.10) -> list[str]:
    """What of it may not be."""
    told = [name for name in ("stuck", "left behind", "folds that differ") if found[name]]
    return told + (["memory grew"] if found["memory grew"] > growth else [])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--loops", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=6.0, help="that a call takes")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        soak = Soak(Path(folder), args.minutes * 60, args.loops, args.seconds, args.seed)
        found = asyncio.run(soak.run())
    print(json.dumps(found, indent=2))
    return int(bool(wrong(found)))


if __name__ == "__main__":
    raise SystemExit(main())
