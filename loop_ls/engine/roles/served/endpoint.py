"""Where an agent program finds the tools of its turn: a port on loopback that answers whoever knows its token.

Port and token are made for one turn and go with it, whatever became of the program. Messages are lines, as MCP has
them on standard input and output: `loop-ls mcp --stage` carries them here, so that no program has to be told how our
port is spoken to. What a tool does, it does as part of the turn, with what that turn may do.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

from loop_ls.engine.roles.served.protocol import Answering, answer

HOST = "127.0.0.1"
#: Seconds in which whoever connects says the token.
TOKEN_SECONDS = 10
#: Of one message, in bytes: an artifact may hold a long text.
LONGEST_LINE = 8 << 20
#: Connections at a time: a program opens one, and one more where it starts its server anew.
CONNECTIONS = 8


@dataclass(slots=True)
class _Endpoint:
    """`strangers` have not said the token yet, the oldest first: however many there are, they keep nobody out."""

    tools: Answering
    token: bytes
    strangers: dict[asyncio.Task[None], None] = field(default_factory=dict)
    connections: set[asyncio.Task[None]] = field(default_factory=set)

    def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(self.strangers) >= CONNECTIONS:
            next(iter(self.strangers)).cancel()
        task = asyncio.ensure_future(self._served(reader, writer))
        self.strangers[task] = None
        task.add_done_callback(self._left)

    def _left(self, task: asyncio.Task[None]) -> None:
        self.strangers.pop(task, None)
        self.connections.discard(task)

    async def close(self) -> None:
        tasks = (*self.strangers, *self.connections)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _served(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            if await self._knows_token(reader) and self._admitted():
                await self._answered(reader, writer)
        except (OSError, ValueError):  # it left, or a line of it is too long
            return
        finally:
            writer.close()

    def _admitted(self) -> bool:
        task = asyncio.current_task()
        if task is None or len(self.connections) >= CONNECTIONS:
            return False
        self.strangers.pop(task, None)
        self.connections.add(task)
        return True

    async def _knows_token(self, reader: asyncio.StreamReader) -> bool:
        try:
            async with asyncio.timeout(TOKEN_SECONDS):
                said = await reader.readline()
        except TimeoutError:
            return False
        return hmac.compare_digest(said.rstrip(b"\r\n"), self.token)

    async def _answered(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Each message by itself: a tool that takes long keeps no other waiting."""
        async with asyncio.TaskGroup() as group:
            while line := await reader.readline():
                group.create_task(self._one(line, writer))

    async def _one(self, line: bytes, writer: asyncio.StreamWriter) -> None:
        said = await answer(line, self.tools)
        if said is None:
            return
        with suppress(OSError):
            writer.write(json.dumps(said).encode() + b"\n")
            await writer.drain()


@asynccontextmanager
async def serving(tools: Answering) -> AsyncIterator[str]:
    """The key to these tools, as `loop-ls mcp --stage` reads it; afterwards it opens nothing."""
    endpoint = _Endpoint(tools, secrets.token_urlsafe(32).encode())
    server = await asyncio.start_server(endpoint.connected, HOST, 0, limit=LONGEST_LINE)
    port: int = server.sockets[0].getsockname()[1]
    try:
        yield json.dumps({"port": port, "token": endpoint.token.decode()})
    finally:
        server.close()
        await endpoint.close()
