"""MCP server of the read-only shell: what roles that only read may run, for agent programs.

An agent program brings a shell of its own, which is fenced less or not at all; its runner takes that away and
names this server instead. One client, on standard input and output, until it leaves.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from loop_ls import __version__
from loop_ls.engine.capabilities.guard import permitting, using
from loop_ls.engine.capabilities.values import Capabilities, ReadingCommands
from loop_ls.engine.roles.tools.shell import readonly_shell
from loop_ls.engine.roles.tools.tool import Refusal, RoleTool
from loop_ls.engine.roles.tools.workspace import Workspace
from loop_ls.engine.subprocesses.sandbox import Sandbox

if TYPE_CHECKING:
    from mcp import types
    from mcp.server.lowlevel import Server

NAME = "loop-ls-readonly-shell"


async def serve_shell(root: Path, sandbox: Sandbox) -> None:
    """Raises `ImportError` where the SDK is not installed."""
    from mcp.server.stdio import stdio_server

    server = _server_of(readonly_shell(Workspace(root), sandbox), ReadingCommands(root.as_posix()))
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


def _server_of(tool: RoleTool, reads: ReadingCommands) -> Server[object]:
    """Whoever started this server has agreed to reading commands in this folder, and to nothing else."""
    from mcp import types
    from mcp.server.lowlevel import Server

    told = types.Tool(name=tool.name, description=tool.spec.description, input_schema=dict(tool.spec.schema))

    async def listed(context: object, params: object) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[told])

    async def called(context: object, params: types.CallToolRequestParams) -> types.CallToolResult:
        if params.name != tool.name:
            return _answer(f"unknown tool `{params.name}`", failed=True)
        try:
            with permitting(lambda: Capabilities.of([reads])), using(reads):
                return _answer(await tool.run(params.arguments or {}))
        except Refusal as refusal:
            return _answer(str(refusal), failed=True)

    return Server(NAME, version=__version__, on_list_tools=listed, on_call_tool=called)


def _answer(text: str, failed: bool = False) -> types.CallToolResult:
    from mcp import types

    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=failed)
