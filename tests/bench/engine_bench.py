"""What the engine costs, against its budgets: `python -m tests.bench.engine_bench [--runs 3] [--only NAME]`.

Each line is the median of several runs, on SQLite and (`--postgres`, where a server is installed) on PostgreSQL;
`--langgraph` measures LangGraph with its SQLite saver on the same empty loop. Lines with a process measure the
real engine over HTTP, the others the engine in this process. A busy machine shows: the load is printed too.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from loop_ls.client import connect
from loop_ls.client.session import EngineClient
from loop_ls.contract.facts.kinds import Judged, RunStarted
from loop_ls.engine.core.location import Place
from loop_ls.engine.core.loop_driver import History, Limits, LoopParts, Outcome, Turn, Verdict, drive
from loop_ls.engine.core.plan import Plan
from loop_ls.engine.core.ports import Models, Recorder
from loop_ls.engine.core.preparer import Prepared
from loop_ls.engine.core.start_request import StartRequest
from loop_ls.engine.durable.workers import PostgresWorkers
from loop_ls.engine.journal.postgres import PostgresStorage
from loop_ls.engine.service import Engine
from loop_ls.testing.models import ScriptedModels
from loop_ls.testing.postgres import PostgresServer
from tests.bench import engine_ends

Figures = dict[str, float]


@dataclass(frozen=True)
class Line:
    """`on_postgres` None: there is no budget for it there."""

    name: str
    unit: str
    budget: float
    on_postgres: float | None = None


LINES = [
    Line("start to /health", "s", 1.2, 1.5),
    Line("overhead per iteration, median", "ms", 1.5, 5.0),
    Line("overhead per iteration, p99", "ms", 4.0, 15.0),
    Line("fact to listener, p95", "ms", 50.0, 50.0),
    Line("stop to end of the call, p95", "ms", 50.0, 50.0),
    Line("stop to the last grandchild, p95", "ms", 50.0, 50.0),
    Line("the same, which ignores SIGTERM", "ms", 300.0, 300.0),
    Line("1,000 loops at once, done", "s", 12.0, 25.0),
    Line("1,000 loops at once, memory", "MB", 150.0),
    Line("1,000 paused, CPU of a core", "%", 1.5, 1.5),
    Line("1,000 paused, back when opened", "s", 3.0, 6.0),
    Line("1,000 waiting, back after a kill", "s", 3.0, 6.0),
    Line("calls repeated after the kill", "", 0.0, 0.0),
    Line("worker killed, its loops go on", "s", 5.0, 5.0),
    Line("idle, CPU of a core", "%", 1.0, 1.0),
    Line("idle, memory", "MB", 130.0),
    Line("journal, 1,000 iterations of 1 KiB", "MB", 5.0),
]
#: Of PostgreSQL, where the figures are its own; set for the runs that measure it.
DATABASE: list[str] = []
SERVER: list[PostgresServer] = []
PEER = Path.home() / ".cache" / "loop-ls-bench" / "langgraph"

HEAD = """$schema: "workflow/v2.0"
name: {name}
version: "1.0.0"
description: bench
execution: {{provider: {provider}, model: m}}
"""
LOOP = """loops:
  - name: develop
    workflow: cycle
    with: {previous: "{{loop.last.output}}"}
    max_iterations: 20
    until: "The review says PASS and nothing is left to do"
"""
CYCLE = 'steps:\n  - name: write\n    run: "Write it better than {{previous}}"\n'


# -- the engine in this process --------------------------------------------------------------------


class Nothing:
    """A program whose body and judge do nothing, or wait: what is left is the engine."""

    def __init__(self, iterations: int, output: str = "x", seconds: float = 0.0) -> None:
        self.iterations, self.output, self.seconds = iterations, output, seconds
        self.stamps: list[float] = []
        self.asked = 0

    async def prepare(self, request: StartRequest, models: Any) -> Prepared:
        return Prepared(RunStarted(format="workflow", name="w", target={"kind": "workflow"}, path=request.path))

    async def run(self, plan: Plan, recorder: Recorder, models: Models) -> Outcome:
        world = self

        class Parts:
            async def run(self, turn: Turn) -> str:
                return str(await recorder.call(turn.place.part("ask"), world.body))

            async def judge(self, turn: Turn, output: str) -> Verdict:
                judged = Judged(criterion="until", verdict="no", answer="NO", output_ref=turn.place.key)
                await recorder.call(turn.place.part("judge"), world.no, lambda said: [judged.fact(turn.place)])
                world.stamps.append(time.perf_counter())
                return Verdict("no")

        parts = Parts()
        place = Place().element("develop")
        return await drive(LoopParts("develop", place, parts, History(), Limits(self.iterations), parts), recorder)

    async def body(self) -> str:
        if self.seconds:
            await asyncio.sleep(self.seconds)
        self.asked += 1
        return f"{self.asked} {self.output}"

    async def no(self) -> str:
        return "NO"


async def opened(folder: Path, program: Nothing) -> Engine:
    if DATABASE:
        engine = Engine(
            folder,
            {"workflow": program},
            lambda plan: ScriptedModels(),
            program,
            storage=lambda: PostgresStorage(DATABASE[0]),
            workers=PostgresWorkers,
        )
    else:
        engine = Engine(folder, {"workflow": program}, lambda plan: ScriptedModels(), program)
    await engine.open()
    return engine


async def finished(engine: Engine, count: int) -> None:
    async for _, event in engine.subscribe(0):
        count -= event["kind"] in ("completed", "failed", "cancelled")
        if count == 0:
            return


async def overhead(folder: Path) -> Figures:
    program = Nothing(1000, "x" * 1024)
    engine = await opened(folder, program)
    ending = asyncio.create_task(finished(engine, 1))
    await engine.start({"root": str(folder), "path": str(folder / "w.yaml")})
    await ending
    most = sum(path.stat().st_size for path in folder.glob("journal.db*"))
    await engine.close()
    if DATABASE:
        most = 0
    gaps = [b - a for a, b in zip(program.stamps, program.stamps[1:], strict=False)]
    return {
        "overhead per iteration, median": statistics.median(gaps) * 1e3,
        "overhead per iteration, p99": percentile(gaps, 99) * 1e3,
        "journal, 1,000 iterations of 1 KiB": most / 1e6,
    }


def bare_commit(folder: Path) -> float:
    """What one durable commit costs on this disk now, without anything of ours (ms): an iteration has two."""
    db = sqlite3.connect(folder / "bare.db", isolation_level=None)
    db.execute("pragma journal_mode = wal")
    db.execute("pragma synchronous = full")
    db.execute("create table t(a)")
    gaps = []
    for n in range(200):
        began = time.perf_counter()
        db.execute("insert into t values(?)", (n,))
        gaps.append(time.perf_counter() - began)
    db.close()
    return statistics.median(gaps) * 1e3


async def many(folder: Path) -> Figures:
    program = Nothing(5, seconds=1.0)
    engine = await opened(folder, program)
    began = time.perf_counter()
    ending = asyncio.create_task(finished(engine, 1000))
    await asyncio.gather(*(engine.start({"root": str(folder), "path": f"{folder}/w{n}.yaml"}) for n in range(1000)))
    await ending
    took, memory = time.perf_counter() - began, psutil.Process().memory_info().rss
    await engine.close()
    return {"1,000 loops at once, done": took, "1,000 loops at once, memory": memory / 1e6}


async def parked(folder: Path) -> Figures:
    program = Nothing(5, seconds=0.001)
    engine = await opened(folder, program)

    async def park(number: int) -> None:
        answer = await engine.start({"root": str(folder), "path": f"{folder}/w{number}.yaml"})
        await engine.control("pause", answer["runId"])

    await asyncio.gather(*(park(n) for n in range(1000)))
    waiting = (await engine.runs("paused", limit=1000))["runs"]
    if engine.member is not None:
        async with asyncio.timeout(60):
            while engine.member.load < len(waiting):
                await asyncio.sleep(0.1)
    await asyncio.sleep(1)
    before = time.process_time()
    await asyncio.sleep(5)
    cpu = (time.process_time() - before) / 5
    await engine.close()
    began = time.perf_counter()
    again = await opened(folder, program)
    async with asyncio.timeout(60):
        while (back := sum(run.mine for run in again._runs)) < len(waiting):
            await asyncio.sleep(0.01)
    took = time.perf_counter() - began
    await again.close()
    assert back == len(waiting) > 900, f"{back} of {len(waiting)} came back"
    return {"1,000 paused, CPU of a core": cpu * 100, "1,000 paused, back when opened": took}


# -- the engine in its own process -----------------------------------------------------------------


async def process(folder: Path) -> Figures:
    project, data = folder / "project", folder / "data"
    project.mkdir()
    (project / "main.yaml").write_text(HEAD.format(name="main", provider="ollama") + LOOP)
    (project / "cycle.yaml").write_text(HEAD.format(name="cycle", provider="ollama") + CYCLE)
    began = time.perf_counter()
    client = await connect(project, str(data))
    found: Figures = {"start to /health": time.perf_counter() - began}
    try:
        found["fact to listener, p95"] = await latency(client, project)
        found["stop to end of the call, p95"] = await stopping(client, project)
        engine = psutil.Process(client.handover.pid)
        await asyncio.sleep(5)
        before = sum(engine.cpu_times()[:2])
        await asyncio.sleep(20)
        found["idle, CPU of a core"] = (sum(engine.cpu_times()[:2]) - before) * 5
        found["idle, memory"] = engine.memory_info().rss / 1e6
    finally:
        await client.engine_stop()
        await client.aclose()
    return found


async def latency(client: EngineClient, project: Path) -> float:
    """From the moment that a fact is dated (before it is written) to the listener's hands."""
    gaps: list[float] = []

    async def listen() -> None:
        async for event in client.follow():
            if "seq" in event:
                at = time.time() - _seconds(event["at"])
                gaps.append(at)

    listening = asyncio.create_task(listen())
    await asyncio.sleep(0.5)
    for _ in range(10):
        answer = await client.start({"root": str(project), "path": str(project / "main.yaml"), "mock": True})
        assert answer["ok"], answer
        await asyncio.sleep(0.3)
    listening.cancel()
    assert len(gaps) > 100
    return percentile(gaps, 95) * 1e3


async def stopping(client: EngineClient, project: Path) -> float:
    """From the wish to the end of the connection that the call holds."""
    asked: asyncio.Queue[asyncio.Future[float]] = asyncio.Queue()

    async def hold(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """A model that never answers: notes when its caller hangs up."""
        await reader.readuntil(b"\r\n\r\n")
        gone: asyncio.Future[float] = asyncio.get_running_loop().create_future()
        asked.put_nowait(gone)
        while await reader.read(65536):
            pass
        gone.set_result(time.perf_counter())
        writer.close()

    server = await asyncio.start_server(hold, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    settings = f"providers:\n  slow: {{kind: openai, baseUrl: 'http://127.0.0.1:{port}/v1'}}\n"
    (project / ".loop-ls.yaml").write_text(settings)
    (project / "slow.yaml").write_text(HEAD.format(name="slow", provider="slow") + LOOP.replace("cycle", "slowly"))
    (project / "slowly.yaml").write_text(HEAD.format(name="slowly", provider="slow") + CYCLE)
    gaps: list[float] = []
    for _ in range(20):
        request = {"root": str(project), "path": str(project / "slow.yaml")}
        answer = await client.start(request)
        if answer.get("code") == "consent_required":
            answer = await client.start({**request, "consent": client.agree(answer)})
        assert answer["ok"], answer
        gone = await asyncio.wait_for(asked.get(), 10)
        began = time.perf_counter()
        await client.stop(answer["runId"])
        gaps.append(await asyncio.wait_for(gone, 10) - began)
    server.close()
    return percentile(gaps, 95) * 1e3


# -- the table -------------------------------------------------------------------------------------


def percentile(values: list[float], percent: int) -> float:
    return sorted(values)[min(len(values) - 1, len(values) * percent // 100)]


def _seconds(at: str) -> float:
    from datetime import datetime

    return datetime.fromisoformat(at).timestamp()


async def lost(folder: Path) -> Figures:
    return await engine_ends.lost_worker(folder, SERVER[0]) if SERVER else {}


GROUPS: dict[str, Callable[[Path], Awaitable[Figures]]] = {
    "overhead": overhead,
    "process": process,
    "programs": engine_ends.programs,
    "killed": engine_ends.killed,
    "lost": lost,
    "many": many,
    "parked": parked,
}


async def _one(name: str, folder: Path) -> Figures:
    return await GROUPS[name](folder)


def measured(groups: list[str], runs: int, server: PostgresServer | None) -> dict[str, float]:
    figures: dict[str, list[float]] = {}
    for _ in range(runs):
        for name in groups:
            DATABASE[:] = [server.database()] if server else []
            SERVER[:] = [server] if server else []
            if DATABASE:
                os.environ["LOOP_LS_DATABASE_URL"] = DATABASE[0]  # for engines in processes of their own
            with tempfile.TemporaryDirectory() as folder:
                for line, value in asyncio.run(_one(name, Path(folder))).items():
                    figures.setdefault(line, []).append(value)
            os.environ.pop("LOOP_LS_DATABASE_URL", None)
    DATABASE.clear()
    return {line: statistics.median(values) for line, values in figures.items()}


def langgraph(runs: int) -> str:
    """The peer on the same empty loop, in an environment of its own that is made once."""
    python = PEER / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(PEER)], check=True)
        wanted = ["langgraph>=1.2,<2", "langgraph-checkpoint-sqlite>=3,<4"]
        subprocess.run([str(python), "-m", "pip", "install", "-q", *wanted], check=True)
    medians, tails, sizes = [], [], []
    for _ in range(runs):
        with tempfile.TemporaryDirectory() as folder:
            script = Path(__file__).with_name("peer_langgraph.py")
            done = subprocess.run(
                [str(python), str(script), folder, "1000"], check=True, capture_output=True, text=True
            )
        found = json.loads(done.stdout)
        medians.append(statistics.median(found["gaps"]))
        tails.append(percentile(found["gaps"], 99))
        sizes.append(found["megabytes"])
    median, tail, size = (statistics.median(each) for each in (medians, tails, sizes))
    return f"LangGraph, SQLite saver, same loop: median {median:.2f} ms, p99 {tail:.2f} ms, file {size:.1f} MB"


def table(title: str, figures: dict[str, float], budget_of: Callable[[Line], float | None]) -> int:
    """Print budget and figure side by side -> lines over budget."""
    print(f"{title:38} {'budget':>9} {'measured':>9}")
    over = 0
    for line in LINES:
        budget = budget_of(line)
        if line.name in figures and budget is not None:
            value = figures[line.name]
            told = "" if value <= budget else f"  {value / budget:.2f} x budget"
            over += value > budget
            print(f"{line.name:38} {budget:>6g} {line.unit:<2} {value:>6.2f} {line.unit:<2}{told}")
    return over


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", choices=sorted(GROUPS))
    parser.add_argument("--postgres", action="store_true", help="measure PostgreSQL too")
    parser.add_argument("--langgraph", action="store_true", help="measure LangGraph too (installs it)")
    args = parser.parse_args()
    groups = [args.only] if args.only else list(GROUPS)
    over = table("engine on SQLite", measured(groups, args.runs, None), lambda line: line.budget)
    if args.postgres:
        server = PostgresServer(careful=True).start()
        try:
            over += table("engine on PostgreSQL", measured(groups, args.runs, server), lambda line: line.on_postgres)
        finally:
            server.stop()
    if args.langgraph:
        print(langgraph(args.runs))
    with tempfile.TemporaryDirectory() as folder:
        commit = bare_commit(Path(folder))
    print(f"load of the machine {os.getloadavg()[0]:.1f}; one bare commit on this disk {commit:.2f} ms")
    return int(over > 2)


if __name__ == "__main__":
    sys.exit(main())
