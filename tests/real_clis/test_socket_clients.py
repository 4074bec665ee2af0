"""The JavaScript client of Socket.IO through long loops: nothing is missed, nothing comes twice, nobody is cut off."""

from __future__ import annotations

import asyncio
import json
import os
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.engine.assistants.support.long_loops import ITERATIONS, LOOPS, looped, prepared
from tests.engine.assistants.support.served import OWNER_TOKEN, serving

CLIENT = Path(__file__).with_name("socket_client.cjs")


@asynccontextmanager
async def javascript(url: str, transport: str) -> AsyncIterator[Process]:
    there = Path(os.environ.get("LOOP_LS_AGENTS", "")).parent
    if not (there / "socket.io-client").is_dir():
        sentence = (
            "LOOP_LS_AGENTS names no folder with socket.io-client: run .ci/setup-agents and source its agents.env"
        )
        pytest.fail(sentence, pytrace=False)
    words = ("node", str(CLIENT), str(there), url, OWNER_TOKEN, transport)
    process = await asyncio.create_subprocess_exec(*words, stdin=PIPE, stdout=PIPE, env={"PATH": os.environ["PATH"]})
    try:
        assert await said(process) == ["connect"]
        yield process
    finally:
        process.kill()
        await process.wait()


async def said(process: Process) -> list[Any]:
    assert process.stdout is not None
    async with asyncio.timeout(60):
        found: list[Any] = json.loads(await process.stdout.readline())
    return found


@pytest.mark.timeout(400)
@pytest.mark.parametrize("transport", ["websocket", "polling"])
async def test_the_javascript_client_hears_every_iteration_of_long_loops_once(tmp_path: Path, transport: str) -> None:
    async with serving(tmp_path) as served:
        await prepared(served)
        starter = await served.socket()
        async with javascript(served.url, transport) as process:
            await looped(served, starter, LOOPS)
            heard: list[Any] = []
            while [data["status"] for event, data in heard if event == "agent:status"].count("idle") < LOOPS:
                heard.append(await said(process))
                assert heard[-1][0] != "disconnect", heard[-1]
            numbers = [data["iteration"] for event, data in heard if event == "agent:loop_iteration"]
            assert numbers == [*range(1, ITERATIONS + 1)] * LOOPS
