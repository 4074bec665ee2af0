"""Our own MCP server: the agent tools by the official SDK, over stdio or HTTP.

The SDK takes half a second to import, so it and the tools are imported when the first client comes, never at the
start of the engine.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from loop_ls import __version__
from loop_ls.engine.api.answers import refusal
from loop_ls.extras import missing

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    from loop_ls.engine.api.mcp.agent_tools import Loops

log = logging.getLogger(__name__)

NAME = "loop-ls"
INSTRUCTIONS = (
    "Loops let roles (plan, coder, reviewer, ...) work on a goal in turns until it is approved or a limit is "
    "reached. Start one with loop_start, watch it with loop_status, end it with loop_control. What waits for an answer "
    "is in loop_inbox. After you wrote or "
    "changed a loop file, check it with loop_check and fix what it finds."
)
#: Gives the engine as the one who asks may use it.
LoopsOf = Callable[[object], "Loops"]


def server_of(loops_of: LoopsOf) -> Server[object]:
    """The SDK's server over an engine. Raises `ImportError` where the SDK is not installed."""
    from mcp import types
    from mcp.server import ServerRequestContext
    from mcp.server.lowlevel import Server

    from loop_ls.engine.api.mcp.agent_tools import TOOLS, AskPerson, use
    from loop_ls.engine.api.mcp.elicitation import ask_person

    async def listed(context: object, params: object) -> types.ListToolsResult:
        return types.ListToolsResult(
            tools=[
                types.Tool(
                    name=tool.name,
                    description=tool.description,
                    input_schema=tool.schema,
                    annotations=types.ToolAnnotations(read_only_hint=tool.reads, destructive_hint=not tool.reads),
                )
                for tool in TOOLS.values()
            ]
        )

    async def called(
        context: ServerRequestContext[object], params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        loops = loops_of(context)
        try:
            text, failed = await use(loops, params.name, params.arguments or {})
        except AskPerson as asked:
            found = await ask_person(context, params, loops, asked)
            if isinstance(found, types.InputRequiredResult):
                return found
            text, failed = found
        return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=failed)

    return Server(NAME, version=__version__, instructions=INSTRUCTIONS, on_list_tools=listed, on_call_tool=called)


async def serve_stdio(loops: Loops) -> None:
    """Serve one client on standard input and output until it leaves."""
    from mcp.server.stdio import stdio_server

    server = server_of(lambda context: loops)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


class McpEndpoint:
    """`/mcp` of the engine: each request stands for itself, so no session outlives its client."""

    def __init__(self) -> None:
        self._manager: StreamableHTTPSessionManager | None = None
        self._task: asyncio.Task[None] | None = None
        self._starting, self._leaving = asyncio.Lock(), asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            manager = await self._ready()
        except ImportError:
            await refusal("provider_unavailable", missing("The MCP server", "mcp"))(scope, receive, send)
            return
        await manager.handle_request(scope, receive, send)

    async def aclose(self) -> None:
        self._leaving.set()
        if self._task is not None:
            await asyncio.wait({self._task}, timeout=2)

    async def _ready(self) -> StreamableHTTPSessionManager:
        async with self._starting:
            if self._manager is None:
                await asyncio.to_thread(_load)
                from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

                manager = StreamableHTTPSessionManager(server_of(_of_request), stateless=True, json_response=True)
                began = asyncio.Event()
                self._task = asyncio.create_task(self._run(manager, began.set), name="MCP endpoint")
                await began.wait()
                self._manager = manager
            return self._manager

    async def _run(self, manager: StreamableHTTPSessionManager, began: Callable[[], None]) -> None:
        """The manager's own task: it is opened and closed in the same one."""
        async with manager.run():
            began()
            await self._leaving.wait()


def _of_request(context: Any) -> Loops:
    """The engine as the person may use it who sent the request."""
    from loop_ls.engine.api.mcp.own_loops import OwnLoops

    request: Request = context.request
    return OwnLoops(request)


def _load() -> None:
    from mcp.server import streamable_http_manager

    assert streamable_http_manager
