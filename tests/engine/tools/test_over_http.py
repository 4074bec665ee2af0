"""The same sessions over streamable HTTP, against a server of the SDK on a real socket."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from mcp.server.mcpserver import MCPServer

from loop_ls.engine.core.ports import Failure
from loop_ls.engine.tools import Sessions
from loop_ls.engine.tools.servers import Server, read_server
from loop_ls.engine.tools.session import Session
from loop_ls.engine.tools.transports import _Body


class Listening:
    """An HTTP server that remembers the headers it was asked with."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.headers: list[dict[str, str]] = []
        mcp = MCPServer("shelf")

        @mcp.tool()
        def shout(text: str) -> str:
            """Says it louder."""
            return text.upper()

        self._inner: Any = mcp.streamable_http_app() if kind == "http" else mcp.sse_app()
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}/{'mcp' if kind == 'http' else 'sse'}"
        self._server = uvicorn.Server(
            uvicorn.Config(self._app, interface="asgi3", log_level="critical", timeout_graceful_shutdown=1)
        )

    async def _app(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            self.headers.append({name.decode(): value.decode() for name, value in scope["headers"]})
        await self._inner(scope, receive, send)

    async def __aenter__(self) -> Listening:
        self._task = asyncio.create_task(self._server.serve([self._socket]))
        async with asyncio.timeout(60):
            while not self._server.started:
                await asyncio.sleep(0.01)
        return self

    async def __aexit__(self, *why: object) -> None:
        self._server.should_exit = True
        await self._task


@pytest.fixture(params=["http", "sse"])
async def shelf(request: pytest.FixtureRequest) -> AsyncIterator[Listening]:
    async with Listening(request.param) as found:
        yield found


async def test_a_tool_is_called_over_http_with_the_headers_of_its_entry(shelf: Listening, tmp_path: Path) -> None:
    entry = {"url": shelf.url, "type": shelf.kind, "headers": {"Authorization": "Bearer ${SHELF_TOKEN}"}}
    async with Sessions({"shelf": entry}, tmp_path, {"SHELF_TOKEN": "token-0123456789"}) as sessions:
        assert [tool.name for tool in await sessions.tools(["shelf"])] == ["shout"]
        assert (await sessions.call("shelf", "shout", {"text": "hear"})).text == "HEAR"
    assert {each.get("authorization") for each in shelf.headers} == {"Bearer token-0123456789"}


async def test_a_server_that_nobody_runs_is_one_sentence(tmp_path: Path) -> None:
    async with Sessions({"shelf": {"url": "http://127.0.0.1:9/mcp"}}, tmp_path, {}) as sessions:
        with pytest.raises(Failure) as caught:
            await sessions.tools(["shelf"])
    assert caught.value.code == "server_unavailable"
    assert caught.value.message.startswith("MCP server `shelf` did not start: ")


async def test_a_server_that_takes_the_call_and_says_nothing_is_left(tmp_path: Path) -> None:
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    listening = await asyncio.start_server(silent, "127.0.0.1", 0)
    async with listening:
        url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/mcp"
        async with Sessions({"shelf": {"url": url, "timeoutSeconds": 0.5}}, tmp_path, {}) as sessions:
            with pytest.raises(Failure) as caught:
                await sessions.tools(["shelf"])
    assert "did not respond within 0.5 s" in caught.value.message


@asynccontextmanager
async def filling(kind: str, head: str, piece: bytes) -> AsyncIterator[Server]:
    """A server whose answer to anything does not end."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            await reader.readuntil(b"\r\n\r\n")
            writer.write(f"HTTP/1.1 200 X\r\n{head}\r\nconnection: close\r\n\r\n".encode())
            while True:
                writer.write(piece)
                await writer.drain()
        writer.close()

    listening = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with listening:
        port = listening.sockets[0].getsockname()[1]
        yield read_server({"evil": {"url": f"http://127.0.0.1:{port}/mcp", "type": kind}}, "evil")


@pytest.mark.parametrize(
    ("kind", "head", "piece", "told"),
    [
        ("http", "content-type: application/json", b" " * 1000, "a message of more than 32 MiB"),
        ("http", "content-type: application/json\r\ncontent-encoding: gzip, gzip", b"\x1f", "a compressed message"),
        ("http", "content-type: text/event-stream\r\ncontent-encoding: gzip", b"\x1f", "a compressed message"),
        ("http", "content-type: text/event-stream", b"data: x\n", "exceeded"),
        ("sse", "content-type: text/event-stream\r\ncontent-encoding: deflate", b"\x1f", "a compressed message"),
        ("sse", "content-type: text/event-stream", b"data: x\n", "exceeded"),
    ],
)
async def test_a_server_does_not_fill_the_memory(
    kind: str, head: str, piece: bytes, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_Body, "most", 1_000_000)
    async with filling(kind, head, piece * 100) as server:
        session = Session(server, tmp_path, {})
        with pytest.raises(Failure, match=told):
            await session.open()
        await session.aclose(now=True)
