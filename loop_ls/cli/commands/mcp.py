"""`loop-ls mcp`: the agent tools for programs that speak MCP over standard input and output.

A thin process: the engine does the work, and goes on when the client leaves.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loop_ls.cli.engine.connect import REFUSED, add_place, engine_for, root_of, settled

if TYPE_CHECKING:
    from loop_ls.client import EngineClient

HELP = "serve loops to agents of other programs (MCP, standard input and output)"

Json = dict[str, Any]


def configure(parser: argparse.ArgumentParser) -> None:
    add_place(parser)


def run(args: argparse.Namespace) -> int:
    return settled(lambda: _serve(args))


async def _serve(args: argparse.Namespace) -> int:
    from loop_ls.engine.api.mcp.server import serve_stdio

    root = root_of(args.root)
    client = await engine_for(args, root)
    async with client:
        presence = asyncio.create_task(_listen(client))
        try:
            await serve_stdio(ByClient(client, root))
        except ImportError:
            print('The package `mcp` is not installed; pip install "loop-ls[mcp]"', file=sys.stderr)
            return REFUSED
        finally:
            presence.cancel()
    return 0


async def _listen(client: EngineClient) -> None:
    """While somebody is here, the engine stays."""
    async for _ in client.follow():
        pass


class ByClient:
    """The engine over HTTP, as `agent_tools.Loops` wants it."""

    def __init__(self, client: EngineClient, root: Path) -> None:
        self._client, self._root = client, root

    async def start(self, argument: Json) -> Json:
        from loop_ls.engine.api.app import workspace_id
        from loop_ls.engine.recovery.heartbeat import unready

        health = await self._client.health()
        refused = unready(health, workspace_id(str(self._client.folder))) if health.get("ok") else None
        if refused is not None:
            return refused.answer()
        return await self._client.start({"root": str(self._root), **argument})

    async def control(self, verb: str, run_id: str) -> Json:
        control = {"pause": self._client.pause, "resume": self._client.resume, "stop": self._client.stop}
        return await control[verb](run_id)

    async def runs(self) -> Json:
        return await self._client.runs(limit=1000)

    async def history(self, run_id: str) -> Json:
        return await self._client.history(run_id)

    async def definitions(self) -> Json:
        return await self._client.definitions()
