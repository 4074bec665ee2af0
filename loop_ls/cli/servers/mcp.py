"""`loop-ls mcp`: the agent tools for programs that speak MCP over standard input and output.

A thin process: the engine does the work, and goes on when the client leaves.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, cast

from loop_ls.cli.engine.connect import REFUSED, add_place, engine_for, root_of, settled
from loop_ls.cli.servers.stage_relay import relay
from loop_ls.client.refusal import refusal
from loop_ls.contract.process_marks import IN_AN_AGENT, NOT_FOR_AGENTS
from loop_ls.extras import is_installed, missing

if TYPE_CHECKING:
    from loop_ls.client import EngineClient
    from loop_ls.contract.answers import (
        Answered,
        ChangesDone,
        CheckedFile,
        Controlled,
        DefinitionList,
        FileEstimate,
        Inbox,
        NewRun,
        Refusal,
        RunChanges,
        RunList,
    )
    from loop_ls.engine.api.mcp.agent_tools import ToolHistory
    from loop_ls.engine.projections.history import Row
    from loop_ls.text.json_value import JsonObject

HELP = "serve loops, or a read-only shell, to agents (MCP, standard input and output)"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--readonly-shell",
        action="store_true",
        help="Serve only one tool: a sandboxed shell that can only read the folder given with --root",
    )
    parser.add_argument("--stage", metavar="FILE", help=argparse.SUPPRESS)  # an agent program is given it by the engine
    add_place(parser)


def run(args: argparse.Namespace) -> int:
    if args.stage:
        return relay(Path(args.stage))
    if not is_installed("mcp"):
        print(f"loop-ls: {missing('`loop-ls mcp`', 'mcp')}", file=sys.stderr)
        return REFUSED
    return _serve_shell(root_of(args.root)) if args.readonly_shell else settled(lambda: _serve(args))


def _serve_shell(root: Path) -> int:
    """No engine: the shell is this process, and ends with its client."""
    from loop_ls.engine.api.mcp.shell_server import serve_shell
    from loop_ls.engine.subprocesses.sandbox import NoSandbox, find_sandbox

    sandbox = find_sandbox()
    if isinstance(sandbox, NoSandbox):
        print(f"loop-ls mcp: the read-only shell is not available. {sandbox.reason}", file=sys.stderr)
        return REFUSED
    asyncio.run(serve_shell(root, sandbox))
    return 0


async def _serve(args: argparse.Namespace) -> int:
    from loop_ls.engine.api.mcp.server import serve_stdio

    root = root_of(args.root)
    client = await engine_for(args, root)
    client.name = "mcp"
    async with client:
        presence = asyncio.create_task(_listen(client))
        try:
            await serve_stdio(ByClient(client, root))
        finally:
            presence.cancel()
    return 0


def _in_an_agent() -> bool:
    """Whether the client is an agent of a loop: what it says for its user, nobody has said."""
    return bool(os.environ.get(IN_AN_AGENT))


def _not_for_agents() -> Refusal:
    return refusal("forbidden", NOT_FOR_AGENTS)


async def _listen(client: EngineClient) -> None:
    """While somebody is here, the engine stays."""
    async for _ in client.follow():
        pass


class ByClient:
    """The engine over HTTP, as `agent_tools.Loops` wants it."""

    def __init__(self, client: EngineClient, root: Path) -> None:
        self._client, self._root = client, root

    async def start(self, argument: JsonObject) -> NewRun | Refusal:
        from loop_ls.engine.api.app import workspace_id
        from loop_ls.engine.recovery.heartbeat import unready

        health = await self._client.health()
        refused = unready(health, workspace_id(str(self._client.folder))) if health.get("ok") else None
        if refused is not None:
            return refused.answer()
        return await self._client.start({"root": str(self._root), **argument})

    async def control(self, verb: str, run_id: str) -> Controlled | Refusal:
        return await self._client.call(verb, run_id)

    async def enhance(self, verb: str, run_id: str, given: JsonObject) -> JsonObject | Refusal:
        return cast("JsonObject | Refusal", await self._client.enhance(run_id, verb, given))

    async def inbox(self, after: int | None) -> Inbox | Refusal:
        return await self._client.inbox(after)

    async def answer(self, run_id: str, given: JsonObject) -> Answered | Refusal:
        if not given.get("agent") and _in_an_agent():
            return _not_for_agents()
        return await self._client.answer(run_id, given)

    async def changes(self, run_id: str) -> RunChanges | Refusal:
        return await self._client.changes(run_id)

    async def decide_changes(self, run_id: str, decision: str) -> ChangesDone | Refusal:
        if _in_an_agent():
            return _not_for_agents()
        return await self._client.decide_changes(run_id, decision)

    async def runs(self) -> RunList | Refusal:
        return await self._client.runs(limit=1000)

    async def history(self, run_id: str) -> ToolHistory | Refusal:
        shown = await self._client.show(run_id)
        if not shown["ok"]:
            return shown
        latest = shown["iteration"]
        return {"ok": True, "state": shown["state"], "history": [] if latest is None else [cast("Row", latest)]}

    async def definitions(self) -> DefinitionList | Refusal:
        return await self._client.definitions()

    async def check(self, path: str, text: str | None) -> CheckedFile | Refusal:
        return await self._client.call("check", body={"path": path, "text": text})

    async def estimate(self, path: str, name: str | None) -> FileEstimate | Refusal:
        return await self._client.call("estimate", body={"path": path, "name": name})
