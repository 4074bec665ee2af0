"""Servers do not outlive an engine that is killed: neither they nor what they started."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
import textwrap
import time
from asyncio.subprocess import PIPE
from pathlib import Path

import psutil

from loop_ls.testing import mcp_server

ENGINE = """
    import asyncio, json, sys
    from pathlib import Path
    from loop_ls.engine.capabilities.guard import permitting
    from loop_ls.engine.capabilities.values import Capabilities
    from loop_ls.engine.tools import Sessions
    from loop_ls.engine.tools.servers import read_server, server_program

    async def main():
        settings = {"things": {"command": json.loads(sys.argv[1])}}
        agreed = server_program(read_server(settings, "things"), ".")
        with permitting(lambda: Capabilities.of([agreed])):
            sessions = Sessions(settings, Path("."))
            pid = (await sessions.call("things", "spawn", {})).text
            print(pid, flush=True)
            await asyncio.Event().wait()

    asyncio.run(main())
"""


def alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


async def test_a_killed_engine_leaves_no_server_and_no_grandchild(tmp_path: Path) -> None:
    command = json.dumps([sys.executable, "-S", mcp_server.FILE])
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", textwrap.dedent(ENGINE), command, cwd=tmp_path, stdout=PIPE
    )
    assert process.stdout is not None
    async with asyncio.timeout(60):
        grandchild = int(await process.stdout.readline())
    family = [each.pid for each in psutil.Process(process.pid).children(recursive=True)]
    assert grandchild in family
    process.send_signal(signal.SIGKILL)
    await process.wait()
    deadline = time.monotonic() + 60
    while any(map(alive, family)) and time.monotonic() < deadline:
        await asyncio.sleep(0.02)
    assert [pid for pid in family if alive(pid)] == []
