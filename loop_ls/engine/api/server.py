"""Listening: a socket of this machine, uvicorn inside the engine's own event loop."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Iterator
from typing import Any

import uvicorn
from starlette.types import ASGIApp

from loop_ls.engine.api.connection import Connection

LOOPBACK, EVERYWHERE = "127.0.0.1", "0.0.0.0"
START_SECONDS = 10.0
#: Open event streams would keep a server from ever ending.
GRACEFUL_SECONDS = 1


class PortTaken(Exception):
    """The wanted port is somebody else's."""


def listen(port: int, host: str = LOOPBACK) -> socket.socket:
    """A bound socket; port 0 takes a free one. Raises `PortTaken`."""
    # With its protocol named: only then does asyncio send what it has at once, and an answer whose head and body are
    # two packets would else wait 40 ms for the client's delayed acknowledgement.
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((host, port))
    except OSError as error:
        made.close()
        raise PortTaken(f"Port {port} cannot be used: {error.strerror or error}.") from None
    return made


class Connections(set[asyncio.Protocol]):
    """Those that are open; a protocol takes itself away when its connection is lost."""

    def __init__(self) -> None:
        super().__init__()
        self._fewer = asyncio.Event()

    def discard(self, connection: object, /) -> None:
        super().discard(connection)
        self._fewer.set()

    def remove(self, connection: asyncio.Protocol, /) -> None:
        super().remove(connection)
        self._fewer.set()

    async def gone(self) -> None:
        while self:
            self._fewer.clear()
            await self._fewer.wait()


class Server(uvicorn.Server):
    """Leaves signals to the process, which has more to end than this; says when it listens. uvicorn looks ten
    times a second whether it shall end and whether what is open has ended; here it sleeps until then, so an idle
    engine wakes nobody's CPU, and one that stops does so at once."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.listening, self._leaving = asyncio.Event(), asyncio.Event()
        self._open = Connections()
        self.server_state.connections = self._open  # type: ignore[assignment]  # its protocols only come and go

    async def main_loop(self) -> None:
        await self._leaving.wait()

    def leave(self) -> None:
        self.should_exit = True
        self._leaving.set()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        self.listening.set()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for server in self.servers:
            server.close()
        for connection in list(self._open):
            connection.shutdown()  # type: ignore[attr-defined]
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(GRACEFUL_SECONDS):
                await self._open.gone()
                if self.server_state.tasks:
                    await asyncio.wait(self.server_state.tasks)
        for task in self.server_state.tasks:
            task.cancel()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def _web_socket(*args: Any, **options: Any) -> asyncio.Protocol:
    """Imported by the first client that wants one."""
    from uvicorn.protocols.websockets.wsproto_impl import WSProtocol

    return WSProtocol(*args, **options)


class Listening:
    """The server as a task of the running loop."""

    def __init__(self, sock: socket.socket) -> None:
        self._socket = sock
        self._server: Server | None = None
        self._task: asyncio.Task[None] | None = None

    async def start(self, app: ASGIApp) -> None:
        config = uvicorn.Config(
            app,
            http=Connection,
            ws=_web_socket,  # type: ignore[arg-type]  # a function that makes the protocol is enough
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
        )
        self._server = Server(config)
        self._task = asyncio.get_running_loop().create_task(self._server.serve(sockets=[self._socket]))
        async with asyncio.timeout(START_SECONDS):
            await self._server.listening.wait()

    async def stop(self) -> None:
        if self._server is not None and self._task is not None:
            self._server.leave()
            await asyncio.gather(self._task, return_exceptions=True)
        self._socket.close()
