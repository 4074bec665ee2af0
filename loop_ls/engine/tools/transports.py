"""How a session reaches its server: a supervised program, or HTTP.

Imported with the first server of a run, never before: this module and the SDK behind it are heavy. The
SDK could start programs itself, but they would outlive an engine that is killed.
"""

from __future__ import annotations

import asyncio
from asyncio.subprocess import PIPE
from collections import deque
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, cast

import anyio
import httpx2
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage
from mcp.types import jsonrpc_message_adapter

from loop_ls.engine.capabilities.guard import require_server, using_program
from loop_ls.engine.core.addresses import is_here
from loop_ls.engine.subprocesses.supervisor import SupervisedProcess, reduced, start
from loop_ls.engine.tools.servers import Server, server_program

Streams = tuple[MemoryObjectReceiveStream[SessionMessage | Exception], MemoryObjectSendStream[SessionMessage]]

#: Longer lines are no message; they would only fill the memory.
LONGEST_LINE = 32 * 1024 * 1024
#: How long a program may take to leave by itself once its input is closed.
LEAVE_SECONDS = 0.5
CONNECT_SECONDS = 10.0


class SupervisedServer:
    """A transport of the SDK over a program of ours. `said` is the end of its standard error."""

    def __init__(self, server: Server, root: Path, environ: Mapping[str, str]) -> None:
        self._server, self._root, self._environ = server, root, environ
        self._child: SupervisedProcess | None = None
        self._open: AbstractAsyncContextManager[Streams] | None = None
        self.said: deque[str] = deque(maxlen=8)

    async def __aenter__(self) -> Streams:
        self._open = self._running()
        return await self._open.__aenter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        assert self._open is not None
        return await self._open.__aexit__(kind, error, trace)

    async def kill(self) -> None:
        """End the program and all that it started, now."""
        if self._child is not None:
            await self._child.stop()

    @asynccontextmanager
    async def _running(self) -> AsyncIterator[Streams]:
        server = self._server
        env = reduced(self._environ, **server.filled(server.env, self._environ))
        written = server_program(server, str(self._root))
        with using_program(written.words, written.folder):
            child = await start(server.argv, cwd=self._root / server.cwd, env=env, stdin=PIPE)
        self._child = child
        told, inbox = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        outbox, asked = anyio.create_memory_object_stream[SessionMessage](0)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_hear, child, told)
            tasks.start_soon(_speak, child, asked, told)
            tasks.start_soon(self._note)
            try:
                yield inbox, outbox
            finally:
                with anyio.CancelScope(shield=True):
                    await _leave(child)
                tasks.cancel_scope.cancel()
                for stream in (told, inbox, outbox, asked):
                    stream.close()

    async def _note(self) -> None:
        assert self._child is not None and self._child.process.stderr is not None
        rest = b""
        while chunk := await self._child.process.stderr.read(4096):
            *lines, rest = (rest + chunk[-4096:]).split(b"\n")
            self.said.extend(line.decode("utf-8", "replace").strip() for line in lines if line.strip())
        if rest.strip():
            self.said.append(rest.decode("utf-8", "replace").strip())


async def _hear(child: SupervisedProcess, told: MemoryObjectSendStream[SessionMessage | Exception]) -> None:
    """Messages, one in a line. Lines that are none are chatter of a program that does not know better."""
    assert child.process.stdout is not None
    rest = bytearray()
    async with told:
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            while chunk := await child.process.stdout.read(1 << 16):
                rest += chunk
                *lines, last = rest.split(b"\n") if b"\n" in chunk else [rest]  # else each piece would copy all before
                rest = last
                for line in lines:
                    with suppress(ValueError):
                        await told.send(SessionMessage(jsonrpc_message_adapter.validate_json(bytes(line))))
                if len(rest) > LONGEST_LINE:
                    return


async def _speak(
    child: SupervisedProcess,
    asked: MemoryObjectReceiveStream[SessionMessage],
    told: MemoryObjectSendStream[SessionMessage | Exception],
) -> None:
    assert child.process.stdin is not None
    try:
        async with asked:
            async for each in asked:
                text = each.message.model_dump_json(by_alias=True, exclude_unset=True)
                child.process.stdin.write(text.encode("utf-8", "replace") + b"\n")
                await child.process.stdin.drain()
    except (OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
        await told.aclose()  # else whoever waits for an answer waits for ever


async def _leave(child: SupervisedProcess) -> None:
    """Close its input, give it a moment, then end whatever is left of its group."""
    if child.process.stdin is not None:
        child.process.stdin.close()
    with suppress(TimeoutError):
        async with asyncio.timeout(LEAVE_SECONDS):
            await child.wait()
    await child.stop()
    child.release()


class _Body(httpx2.AsyncByteStream):
    """A body, up to so many bytes."""

    most = LONGEST_LINE

    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = self.most
        async for piece in self._stream:
            left -= len(piece)
            if left < 0:
                raise httpx2.ReadError(f"a message of more than {LONGEST_LINE >> 20} MiB")
            yield piece

    async def aclose(self) -> None:
        await self._stream.aclose()


async def _bounded(response: httpx2.Response) -> None:
    """The SDK reads a body whole, and unpacks it as often as it says that it is packed: a server could fill the memory.
    Of a stream of events it bounds each one itself."""
    if response.headers.get("content-encoding", "identity").lower() != "identity":
        raise httpx2.DecodingError("a compressed message, although none was requested", request=response.request)
    if not response.headers.get("content-type", "").lower().startswith("text/event-stream"):
        response.stream = _Body(cast("httpx2.AsyncByteStream", response.stream))


@asynccontextmanager
async def over_http(server: Server, environ: Mapping[str, str]) -> AsyncIterator[Any]:
    """Streamable HTTP, or the older SSE. The environment names proxies and certificates, but not for
    a server on this machine."""
    require_server(server.name, server.url)
    url, headers = server.fill(server.url, environ), server.filled(server.headers, environ)
    near = is_here(url)

    def client(
        headers: dict[str, str] | None = None, timeout: httpx2.Timeout | None = None, auth: httpx2.Auth | None = None
    ) -> httpx2.AsyncClient:
        # The limits of a call are ours: a tool may be silent for long.
        patient = httpx2.Timeout(None, connect=CONNECT_SECONDS)
        return httpx2.AsyncClient(
            headers={"accept-encoding": "identity", **(headers or {})},
            timeout=patient,
            auth=auth,
            trust_env=not near,
            verify=not near,
            event_hooks={"response": [_bounded]},
        )

    if server.kind == "sse":
        async with sse_client(url, headers=headers, httpx_client_factory=client) as streams:
            yield streams
        return
    async with client(headers) as http, streamable_http_client(url, http_client=http) as streams:
        yield streams
