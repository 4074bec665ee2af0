"""Clients of Socket.IO (JavaScript and Python, WebSocket and polling) through loops that follow each other for minutes:
what each of them has heard, missed or heard twice, and whether it was cut off.

    LOOP_LS_AGENTS=... python -m tests.bench.socket_minutes [MINUTES]

The JavaScript client is the one of `.ci/setup-agents`. An assistant takes 100 iterations at most: two loops are 200.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from tests.engine.assistants.support.long_loops import ITERATIONS, ended, prepared
from tests.engine.assistants.support.served import ServedProject, serving
from tests.real_clis.test_socket_clients import javascript, said

TRANSPORTS = ("websocket", "polling")
#: Seconds of one iteration.
EACH = 0.3


async def measured(minutes: float, folder: Path) -> None:
    async with serving(folder) as served, AsyncExitStack() as stack:
        await prepared(served)
        served.models.wait = lambda request: EACH
        python = {f"python {each}": await served.socket(transport=each) for each in TRANSPORTS}
        left: dict[str, list[Any]] = {name: [] for name in python}
        for name, client in python.items():
            client.io.on("disconnect", lambda *why, to=name: left[to].append(why))
        node = {f"js {each}": await stack.enter_async_context(javascript(served.url, each)) for each in TRANSPORTS}
        heard: dict[str, list[Any]] = {name: [] for name in node}
        loops, stalls = asyncio.create_task(_loops(served, minutes)), asyncio.create_task(_stalls())
        listening = [asyncio.create_task(_listen(process, heard[name])) for name, process in node.items()]
        number = await loops
        stalls.cancel()
        for client in python.values():
            await ended(client, number)
        await asyncio.sleep(2)
        for task in listening:
            task.cancel()
        await asyncio.gather(*listening, return_exceptions=True)
        events = {name: [(one, data) for one, data in client.heard] for name, client in python.items()} | heard
        for name, each in events.items():
            _tell(name, number, each, left.get(name, []))


async def _loops(served: ServedProject, minutes: float) -> int:
    starter = await served.socket()
    began, number = time.monotonic(), 0
    while time.monotonic() - began < 60 * minutes:
        number += 1
        await starter.send("loop:start", message="do it")
        await ended(starter, number)
        print(f"loop {number}: {time.monotonic() - began:.0f} s", file=sys.stderr)
    print(f"{number} loops of {ITERATIONS} iterations in {time.monotonic() - began:.0f} s")
    return number


async def _stalls() -> None:
    """Prints how long the process stood still, which serves and listens: a machine that is busy elsewhere makes clients
    give up, too."""
    longest = 0.0
    try:
        while True:
            began = time.monotonic()
            await asyncio.sleep(0.05)
            longest = max(longest, time.monotonic() - began - 0.05)
    finally:
        print(f"the event loop stood still for {longest:.1f} s at most")


async def _listen(process: Any, heard: list[Any]) -> None:
    while True:
        heard.append(await said(process))


def _tell(name: str, loops: int, events: list[Any], left: list[Any]) -> None:
    numbers = [data["iteration"] for event, data in events if event == "agent:loop_iteration"]
    expected = [*range(1, ITERATIONS + 1)] * loops
    missed, twice = max(0, len(expected) - len(numbers)), max(0, len(numbers) - len(expected))
    gone = len(left) + sum(event == "disconnect" for event, *_ in events)
    same = "in order" if numbers == expected else "NOT as they were"
    print(f"{name:<18} {len(numbers)} iterations {same}, {missed} missed, {twice} twice, {gone} disconnects")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        asyncio.run(measured(float(sys.argv[1]) if len(sys.argv) > 1 else 10.0, Path(made)))
