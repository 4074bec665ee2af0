"""Engine budgets that need a real process: start, idling, and how soon a listener hears of a fact.

    python tests/bench/engine_process.py [REPEATS]

Prints budget and figure side by side; medians over the repeats. No network, no key.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import datetime
from pathlib import Path

import httpx
import psutil

from loop_ls.client import EngineClient
from loop_ls.client.engine_location import Handover, read_handover

HEAD = '$schema: "workflow/v2.0"\nversion: 1.0.0\nexecution: {provider: scripted, model: m}\n'
CALLEE = HEAD + 'name: draft\nsteps: [{name: write, run: "Write {{input}}"}]\n'
LOOP = (
    HEAD + "name: bench\nloops:\n"
    '  - {name: l, workflow: draft, with: {input: "{{input}}"}, max_iterations: 100, until: "It is good"}\n'
)
ANSWERS = 'delay: 0.02\nanswers:\n  - when: {purpose: judge}\n    say: "NO"\n  - say: "draft"\n'
IDLE_SECONDS = 10


def started(folder: Path) -> tuple[subprocess.Popen[bytes], Handover, float]:
    """A new engine and the seconds until its `/health` was fine."""
    argv = [sys.executable, "-P", "-m", "loop_ls", "engine", "start", "--foreground", "--data-dir", str(folder)]
    began = time.perf_counter()
    process = subprocess.Popen(argv, stdin=subprocess.DEVNULL)
    while True:
        found = read_handover(folder)
        if found is not None:
            try:
                if httpx.get(f"{found.url}/health", trust_env=False).json()["status"] == "ok":
                    return process, found, time.perf_counter() - began
            except httpx.HTTPError:
                pass
        assert process.poll() is None, "the engine did not start"
        time.sleep(0.002)


def idling(pid: int) -> tuple[float, float]:
    """Per cent of a core, and megabytes, when nobody asks for anything."""
    process = psutil.Process(pid)
    time.sleep(3)  # what it still loads in the background
    before = process.cpu_times()
    time.sleep(IDLE_SECONDS)
    after = process.cpu_times()
    spent = after.user + after.system - before.user - before.system
    return 100 * spent / IDLE_SECONDS, process.memory_info().rss / 1e6


async def latencies(folder: Path, handover: Handover) -> list[float]:
    """Milliseconds from the journal's clock to the listener, for each fact of a run of 100 iterations."""
    root = folder / "flows"
    root.mkdir(exist_ok=True)
    for name, text in (("draft.yaml", CALLEE), ("bench.yaml", LOOP), ("bench.answers.yaml", ANSWERS)):
        (root / name).write_text(text, "utf-8")
    found = []
    async with EngineClient(folder, handover) as client:
        position = (await client.engine_status())["engine"]["position"]
        request = {"root": str(root), "path": str(root / "bench.yaml"), "input": "x", "detach": True}
        answer = await client.start(request)
        assert answer["ok"], answer
        async for event in client.follow(position, answer["runId"]):
            if "position" in event:
                at = datetime.fromisoformat(event["at"].replace("Z", "+00:00")).timestamp()
                found.append((time.time() - at) * 1000)
            if event["kind"] in ("completed", "failed"):
                break
    return found


def main(repeats: int) -> None:
    starts, worked, cpu, memory, p50, p95 = [], [], [], [], [], []
    for _ in range(repeats):
        with tempfile.TemporaryDirectory() as name:
            process, handover, seconds = started(Path(name))
            try:
                starts.append(seconds)
                spent = psutil.Process(process.pid).cpu_times()
                worked.append(spent.user + spent.system)
                percent, megabytes = idling(process.pid)
                cpu.append(percent)
                memory.append(megabytes)
                heard = sorted(asyncio.run(latencies(Path(name), handover)))
                p50.append(heard[len(heard) // 2])
                p95.append(heard[int(len(heard) * 0.95)])
            finally:
                process.terminate()
                process.wait(20)
    median = statistics.median
    print(f"engine, medians of {repeats}; load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    print(f"  start -> /health           budget <= 1.2 s     {median(starts):6.2f} s ({median(worked):.2f} s of CPU)")
    print(f"  idle CPU                   budget <= 1 %       {median(cpu):6.2f} %")
    print(f"  idle memory                budget <= 130 MB    {median(memory):6.1f} MB")
    print(f"  fact -> listener, p95      budget <= 50 ms     {median(p95):6.1f} ms (p50 {median(p50):.1f} ms)")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
