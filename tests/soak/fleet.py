"""Workers as real processes on one database, some of them behind a network that can be cut, and the loops that
they run. Tells afterwards whether every loop ended and whether anything was paid twice or lost.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from loop_ls.app.engine import build
from loop_ls.client.consent import agreed
from loop_ls.engine.providers import Providers
from loop_ls.testing.proxy import Proxy
from tests.soak.model import ModelServer
from tests.soak.namespace import Namespace

HEAD = '$schema: "workflow/v2.0"\nname: {name}\nversion: "1.0.0"\nexecution: {{provider: acme, model: m}}\n'
MAIN = """loops:
  - name: develop
    workflow: cycle
    with: {number: "{{loop.iteration}}", run: "{{input}}"}
    max_iterations: 50
    until: "The output is good enough"
"""
CYCLE = 'steps: [{name: write, run: "run {{run}} write {{number}}"}]\n'
SETTINGS = "providers:\n  acme: {kind: openai, baseUrl: '%s', maxConcurrency: %d}\n"
ENDS = ("completed", "failed", "cancelled")


class Worker:
    """A process. `proxy`: what is cut when its network is."""

    def __init__(self, process: asyncio.subprocess.Process, proxy: Proxy | None) -> None:
        self.process, self.proxy = process, proxy

    @property
    def name(self) -> str:
        return f"-{self.process.pid}-%"

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)


class Fleet:
    """`start` runs, with `url` of a database; `engine` is one that only starts and watches."""

    def __init__(self, folder: Path, url: str, port: int, model: ModelServer, at_once: int = 64) -> None:
        self.folder, self.url, self._port, self.model, self.at_once = folder, url, port, model, at_once
        self.workers: list[Worker] = []
        self.ended: dict[str, str] = {}
        self.began: dict[str, str] = {}  # run -> the name that its prompts have
        self.recovered: list[tuple[float, str]] = []
        self.owners: dict[str, str] = {}

    async def open(self) -> None:
        project = self.folder / "project"
        project.mkdir()
        (project / "main.yaml").write_text(HEAD.format(name="main") + MAIN)
        (project / "cycle.yaml").write_text(HEAD.format(name="cycle") + CYCLE)
        (project / ".loop-ls.yaml").write_text(SETTINGS % (self.model.url, self.at_once))
        self.providers = Providers()
        self.engine = build(self.folder / "data", self.providers, project, self.url, takes_runs=False)
        await self.engine.open()
        self._listening = asyncio.create_task(self._listen())

    async def worker(self, cuttable: bool = False, host: Namespace | None = None) -> Worker:
        """`host`: where it runs, if not here."""
        proxy = None
        url = self.url if host is None else self.url.replace("@127.0.0.1:", f"@{host.here}:")
        if cuttable:
            proxy = Proxy("127.0.0.1", self._port)
            await proxy.start()
            url = url.replace(f":{self._port}/", f":{proxy.port}/")
        process = await asyncio.create_subprocess_exec(
            *(*(host.words if host else ()), sys.executable, "-P", "-m", "loop_ls", "engine", "worker"),
            env={**os.environ, "LOOP_LS_DATABASE_URL": url},
            stdin=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
        )
        assert process.stderr is not None
        said = await asyncio.wait_for(process.stderr.readline(), 60)
        assert b"this worker runs loops" in said, said
        drain = asyncio.create_task(_drain(process.stderr, self.folder / "workers.log"))
        self.workers.append(Worker(process, proxy))
        self.workers[-1].drain = drain  # type: ignore[attr-defined]
        return self.workers[-1]

    async def start(self, count: int) -> list[str]:
        project, found = self.folder / "project", []
        for _ in range(count):
            name = f"r{len(self.began)}"
            request = {"root": str(project), "path": str(project / "main.yaml"), "input": name}
            answer = await self.engine.start(request)
            if answer.get("code") == "consent_required":
                answer = await self.engine.start({**request, "consent": agreed(self.engine.folder, answer)})
            assert answer["ok"], answer
            self.began[answer["runId"]] = name
            found.append(answer["runId"])
        return found

    async def all_ended(self, patience: float) -> None:
        async with asyncio.timeout(patience):
            while len(self.ended) < len(self.began):
                await asyncio.sleep(0.05)

    async def _listen(self) -> None:
        async for _, event in self.engine.subscribe(0):
            if event["kind"] in ENDS:
                self.ended[event["runId"]] = str(event.get("reason") or event["kind"])
            if event["kind"] == "recovered":
                self.recovered.append((asyncio.get_running_loop().time(), event["runId"]))

    async def owned_by(self, worker: Worker) -> list[str]:
        """The unfinished runs of a worker, as the database has them."""
        query = "select workflow_uuid from dbos.workflow_status where status = 'PENDING' and executor_id like %s"
        storage: Any = self.engine.journal.storage
        rows = await self.engine.journal.read(storage._all, query, (f"%{worker.name}",))
        return [row[0] for row in rows]

    async def verdict(self) -> dict[str, Any]:
        """What went wrong: calls repeated though they were finished, gaps, doubles, loops without end."""
        repeated, gaps, doubled, in_flight = [], [], [], 0
        counts = Counter(self.model.asked)
        for run_id, name in self.began.items():
            events = await self.engine.facts_of(run_id)
            if [event.seq for event in events] != list(range(1, len(events) + 1)):
                gaps.append(run_id)
            about = Counter((event.kind, event.body.get("place")) for event in events if event.kind != "recovered")
            doubled += [(run_id, *fact) for fact, count in about.items() if count > 1 and fact[1] is not None]
            open_calls = [
                key for event in events if event.kind == "recovered" for key in event.body.get("inFlight", [])
            ]
            in_flight += len(open_calls)
            allowed = Counter(_call_of(name, key) for key in open_calls)
            for call, count in counts.items():
                if call.startswith(f"{name} ") and count > 1 + allowed[call]:
                    repeated.append(call)
        return {
            "loops": len(self.began),
            "ended": len(self.ended),
            "reasons": dict(Counter(self.ended.values())),
            "calls": sum(counts.values()),
            "repeated in flight": sum(count - 1 for count in counts.values()),
            "marked as in flight": in_flight,
            "finished calls repeated": repeated,
            "gaps": gaps,
            "facts doubled": doubled,
        }

    async def close(self) -> None:
        for worker in self.workers:
            if worker.process.returncode is None:
                worker.process.terminate()
        for worker in self.workers:
            try:
                await asyncio.wait_for(worker.process.wait(), 20)
            except TimeoutError:
                worker.kill()
                await worker.process.wait()
            if worker.proxy is not None:
                worker.proxy.heal()
                await worker.proxy.close()
        self._listening.cancel()
        await self.engine.close()
        await self.providers.aclose()


def _call_of(name: str, key: str) -> str:
    """`develop/3/write:ask` and `develop/3:judge` as the model server names these calls."""
    place, _, part = key.rpartition(":")
    parts = place.split("/")
    return f"{name} {'judge' if part == 'judge' else parts[-1]} {parts[1] if len(parts) > 1 else 0}"


async def _drain(stream: asyncio.StreamReader, log: Path) -> None:
    with log.open("ab") as file:
        while line := await stream.readline():
            file.write(line)
            file.flush()
