"""Runs the language server over standard input and output, or for one client over TCP."""

from __future__ import annotations

import asyncio
import gc
import logging
from typing import TYPE_CHECKING

from loop_ls.server.language_server import LoopServer
from loop_ls.server.rpc.transport import Connection, claim_stdio, read, read_connection

if TYPE_CHECKING:
    from loop_ls.server.runs.engine_connection import EngineAccess

logger = logging.getLogger(__name__)

#: Collections are rare: nearly everything a server makes lives as long as the document it belongs to.
_THRESHOLDS = (50_000, 20, 50)


def serve_stdio(access: EngineAccess | None = None) -> int:
    """Exit status: 0 after `shutdown`, 1 when the client just left."""
    source, pipe = claim_stdio()
    server = LoopServer(access)
    server.protocol.writer = pipe

    async def run() -> int:
        inbox = server.listen()
        _tune_memory()
        read(source, inbox)
        try:
            return await server.ended()
        finally:
            pipe.close()

    return asyncio.run(run())


def serve_tcp(port: int, access: EngineAccess | None = None, host: str = "127.0.0.1") -> int:
    """One client; the server ends with it."""
    server = LoopServer(access)

    async def run() -> int:
        inbox = server.listen()
        _tune_memory()
        readers: list[asyncio.Task[None]] = []

        async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            if readers:
                writer.close()
                return
            server.protocol.writer = Connection(writer)
            # Not one of the server's tasks: those end at `shutdown`, and `exit` is still to be read.
            readers.append(asyncio.create_task(read_connection(reader, inbox)))

        listener = await asyncio.start_server(connected, host, port)
        logger.info("Waiting for a client on %s port %s", host, listener.sockets[0].getsockname()[1])
        try:
            return await server.ended()
        finally:
            # Not `async with`: that would wait for the client to close its end first.
            if server.protocol.writer is not None:
                server.protocol.writer.close()
            listener.close()

    return asyncio.run(run())


def _tune_memory() -> None:
    """What was imported stays: it need not be walked again by any collection."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_THRESHOLDS)
    gc.enable()
