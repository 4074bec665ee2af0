"""Several engines on one database, each in a process of its own, and a provider that remembers what it was asked.

One process imports everything and forks the others, so none of them waits for imports. What a test says to a engine
is a method of its engine, and travels as JSON.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from loop_ls.testing.proxy import Proxy

BEAT, LEASE = 0.1, 0.6
ROOT = Path(__file__).resolve().parents[3]


class Workload:
    """A loop of `iterations` with two calls each; or, with `asks`, a call and a question to a person; or, with
    `limits`, one model call under them, for half a dollar that may be 60 cents. Every call that is made is a line in
    a file, by run, key and engine."""

    def __init__(
        self,
        folder: Path,
        iterations: int = 3,
        seconds: float = 0.0,
        asks: bool = False,
        limits: dict[str, Any] | None = None,
    ) -> None:
        self.folder, self.iterations, self.seconds, self.asks, self.limits = folder, iterations, seconds, asks, limits

    def _lines(self) -> list[list[str]]:
        log = self.folder / "paid.log"
        return [line.split() for line in log.read_text().splitlines()] if log.exists() else []

    @property
    def paid(self) -> Counter[str]:
        return Counter(f"{run_id} {key}" for run_id, key, _ in self._lines())

    @property
    def at(self) -> dict[str, str]:
        """call -> the engine that made it last"""
        return {f"{run_id} {key}": engine for run_id, key, engine in self._lines()}


class ForkServer:
    def __init__(self) -> None:
        argv = [sys.executable, "-m", "tests.engine.cluster.engine_process"]
        self._process = subprocess.Popen(argv, stdin=subprocess.PIPE, cwd=ROOT, text=True)

    def order(self, what: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(what) + "\n")
        self._process.stdin.flush()

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(60)


class EngineProcess:
    """One engine. `proxy`: its network can be cut."""

    def __init__(self, name: str, workload: Workload, pid: int, reader: asyncio.StreamReader, writer: Any) -> None:
        self.name, self.workload, self.pid = name, workload, pid
        self._reader, self._writer = reader, writer
        self._asked: dict[int, asyncio.Future[Any]] = {}
        self._hearing = asyncio.create_task(self._hear())

    @classmethod
    async def open(
        cls, fork_server: ForkServer, name: str, url: str, workload: Workload, proxy: Proxy | None = None, **more: Any
    ) -> EngineProcess:
        """`more`: how it differs from others (`engine_process.DEFAULTS`)."""
        parts = urlsplit(url)
        reached = parts._replace(netloc=f"{parts.username}@127.0.0.1:{proxy.port}").geturl() if proxy else url
        come: asyncio.Future[tuple[asyncio.StreamReader, Any]] = asyncio.get_running_loop().create_future()
        server = await asyncio.start_server(lambda *streams: come.set_result(streams), "127.0.0.1", 0, limit=1 << 24)
        shape = {
            "iterations": workload.iterations,
            "seconds": workload.seconds,
            "asks": workload.asks,
            "limits": workload.limits,
        }
        where = {"name": name, "folder": str(workload.folder), "url": reached}
        pace = {"port": server.sockets[0].getsockname()[1], "beat": BEAT, "lease": LEASE}
        fork_server.order({**where, **shape, **pace, **more})
        async with asyncio.timeout(60):
            reader, writer = await come
            pid = json.loads(await reader.readline())["pid"]
        server.close()
        return cls(name, workload, pid, reader, writer)

    async def _hear(self) -> None:
        while line := await self._reader.readline():
            told = json.loads(line)
            done = self._asked.pop(told["id"])
            if not done.done():
                done.set_result(told)
        for done in self._asked.values():
            done.set_exception(ConnectionError(f"the process of engine {self.name} is gone"))

    async def ask(self, method: str, *given: Any, **named: Any) -> Any:
        number = max(self._asked, default=0) + 1
        while number in self._asked:
            number += 1
        done = self._asked[number] = asyncio.get_running_loop().create_future()
        self._writer.write(
            json.dumps({"id": number, "method": method, "given": given, "named": named}).encode() + b"\n"
        )
        told = await done
        assert "fault" not in told, told["fault"]
        return told["answer"]

    async def start(self, count: int = 1) -> list[str]:
        found = []
        for _ in range(count):
            answer = await self.ask("start", {"root": "/", "path": "/w.yaml"})
            assert answer["ok"], answer
            found.append(answer["runId"])
        return found

    async def heard(self, kinds: list[str], runs: list[str], patience: float = 60.0) -> list[dict[str, Any]]:
        """The first fact of one of these kinds for each of the runs, once this engine has heard of all."""
        async with asyncio.timeout(patience):
            return list(await self.ask("heard", kinds, runs))

    async def ended(self, runs: list[str], patience: float = 60.0) -> None:
        await self.heard(["completed", "failed", "cancelled"], runs, patience)

    async def facts(self, run_id: str) -> list[dict[str, Any]]:
        return list((await self.ask("events", run_id, 0, 1000))["events"])

    async def gone(self) -> None:
        """Its process has ended."""
        await asyncio.wait({self._hearing})

    async def close(self) -> None:
        """Leave in order."""
        if not self._hearing.done():
            await asyncio.wait_for(self.ask("close"), 60)
            self._writer.close()
            await asyncio.wait({self._hearing}, timeout=60)


def check(facts: list[dict[str, Any]], iterations: int) -> None:
    """No gap, no double, and every iteration and verdict once."""
    assert [fact["seq"] for fact in facts] == list(range(1, len(facts) + 1))
    kinds = Counter(fact["kind"] for fact in facts)
    assert (kinds["iteration"], kinds["judged"], kinds["completed"]) == (iterations, iterations, 1), kinds
