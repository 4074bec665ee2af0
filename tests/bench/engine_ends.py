"""Engine budgets about ends: programs that are stopped, an engine that is killed, a worker that is lost.

Used by `engine_bench`; each function takes a fresh folder and gives figures by the names of its lines.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import sys
import time
from pathlib import Path
from typing import Any

import psutil

from loop_ls.client import connect
from loop_ls.client.session import EngineClient
from loop_ls.testing.postgres import PostgresServer
from tests.soak.fleet import Fleet
from tests.soak.model import ModelServer

WAITING = 1000

#: Starts a grandchild, leaves both ids in the file that it is told, and waits.
MILD = """
import os, pathlib, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
aside = pathlib.Path(sys.argv[1] + "~")
aside.write_text(f"{os.getpid()} {child.pid}")
aside.rename(sys.argv[1])
time.sleep(600)
"""
DEAF = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
STUBBORN = DEAF + MILD.replace('"import time;', '"import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN);')


def assistant(name: str, criterion: dict[str, str]) -> str:
    return json.dumps(
        {
            "name": name,
            "persona": "You wait.",
            "model": "m",
            "loopEnabled": True,
            "maxIterations": 3,
            "loopCriteria": criterion,
        }
    )


async def start(client: EngineClient, project: Path, path: Path) -> dict[str, Any]:
    request = {"root": str(project), "path": str(path), "message": "go", "mock": True}
    answer = await client.start({**request, "target": {"kind": "assistant"}})
    if answer.get("code") == "consent_required":
        answer = await client.start({**request, "target": {"kind": "assistant"}, "consent": client.agree(answer)})
    assert answer["ok"], answer
    return answer


# -- programs --------------------------------------------------------------------------------------


async def stopped_programs(client: EngineClient, project: Path, program: str, times: int = 10) -> float:
    """Milliseconds from the wish to stop to the end of the last grandchild, p95."""
    gaps = []
    for number in range(times):
        script, pids = project / f"test_{number}.py", project / f"pids_{number}"
        script.write_text(program)
        path = project / f"b{number}.assistant.json"
        command = f"{sys.executable} {script} {pids}"
        path.write_text(assistant(f"Bench {number}", {"type": "test_pass", "value": command}))
        answer = await start(client, project, path)
        async with asyncio.timeout(30):
            while not pids.exists():
                await asyncio.sleep(0.005)
        alive = [psutil.Process(int(word)) for word in pids.read_text().split()]
        began = time.perf_counter()
        stopping = asyncio.create_task(client.stop(answer["runId"]))
        async with asyncio.timeout(10):
            while any(_runs(process) for process in alive):
                await asyncio.sleep(0.001)
        gaps.append(time.perf_counter() - began)
        await stopping
        for file in (path, pids, script):
            file.unlink()
    return sorted(gaps)[len(gaps) * 95 // 100] * 1e3


def _runs(process: psutil.Process) -> bool:
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


async def programs(folder: Path) -> dict[str, float]:
    project = folder / "project"
    project.mkdir()
    client = await connect(project, str(folder / "data"))
    try:
        return {
            "stop to the last grandchild, p95": await stopped_programs(client, project, MILD),
            "the same, which ignores SIGTERM": await stopped_programs(client, project, STUBBORN),
        }
    finally:
        await client.engine_stop()
        await client.aclose()


# -- an engine that is killed ----------------------------------------------------------------------


async def killed(folder: Path) -> dict[str, float]:
    """1,000 loops wait for a person when the engine dies: the seconds until the next one has them all, and the
    last of them has gone on to its end because a person said so."""
    project = folder / "project"
    project.mkdir()
    client = await connect(project, str(folder / "data"))
    try:
        for number in range(WAITING):
            path = project / f"w{number}.assistant.json"
            path.write_text(assistant(f"Bench {number}", {"type": "manual", "value": ""}))
            last = await start(client, project, path)
        asked = await _heard(client, 0, "manual_approval_required", WAITING)
        engine = psutil.Process(client.handover.pid)
        engine.kill()
        engine.wait(10)
        began = time.perf_counter()
        await client.engine_status()  # finds that it is gone and starts the next
        again = await connect(project, str(folder / "data"))
        await _heard(again, asked, "recovered", WAITING)
        assert (await again.approve(last["runId"], None, True))["ok"]
        await _heard(again, asked, "completed", 1)
        took = time.perf_counter() - began
        repeated = await _asked_again(again, asked)
        await again.aclose()
        return {"1,000 waiting, back after a kill": took, "calls repeated after the kill": repeated}
    finally:
        await client.engine_stop()
        await client.aclose()


async def _heard(client: EngineClient, after: int, kind: str, count: int) -> int:
    """The position of the last of so many facts of this kind."""
    async with asyncio.timeout(120):
        async for event in client.follow(after):
            count -= event["kind"] == kind
            if count == 0:
                return int(event["position"])
    raise AssertionError("the engine ended before")


async def _asked_again(client: EngineClient, after: int) -> int:
    position = (await client.engine_status())["engine"]["position"]
    found = 0
    async for event in client.follow(after):
        found += event["kind"] in ("call", "iteration", "manual_approval_required")
        if event.get("position", 0) >= position:
            break
    return found


# -- a worker that is lost -------------------------------------------------------------------------


async def lost_worker(folder: Path, server: PostgresServer) -> dict[str, float]:
    """Two workers, 20 loops; one is killed: the seconds until the other goes on with what was its own."""
    model = ModelServer(8, 0.5)
    await model.start()
    fleet = Fleet(folder, server.database(), server.port, model)
    await fleet.open()
    try:
        doomed, _ = await fleet.worker(), await fleet.worker()
        await fleet.start(20)
        async with asyncio.timeout(60):
            while sum(model.asked.values()) < 40:
                await asyncio.sleep(0.05)
        lost = await fleet.owned_by(doomed)
        at = asyncio.get_running_loop().time()
        doomed.kill()
        await fleet.all_ended(120)
        waits = [when - at for when, run_id in fleet.recovered if run_id in lost]
        found = await fleet.verdict()
        return {
            "worker killed, its loops go on": statistics.median(waits),
            "calls repeated after the kill": float(len(found["finished calls repeated"])),
        }
    finally:
        await fleet.close()
        model.close()
