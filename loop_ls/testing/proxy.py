"""A network that can be cut: a TCP proxy that swallows what comes, in both directions, until it is healed.

Nothing is closed while it is cut, as with a cable that is pulled: both ends go on believing.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress


class Proxy:
    """Stands before `host:port`; `port` is its own once it is started. `there`: the port that new connections
    go to."""

    def __init__(self, host: str, port: int) -> None:
        self._host, self.there = host, port
        self._whole = asyncio.Event()
        self._whole.set()
        self._tasks: set[asyncio.Task[None]] = set()
        self.port = 0

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    def cut(self) -> None:
        self._whole.clear()

    def heal(self) -> None:
        self._whole.set()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await self._whole.wait()
        try:
            there = await asyncio.open_connection(self._host, self.there)
        except OSError:
            writer.close()
            return
        for source, target in ((reader, there[1]), (there[0], writer)):
            task = asyncio.create_task(self._pump(source, target))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _pump(self, source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await source.read(65536):
                await self._whole.wait()
                target.write(data)
                await target.drain()
        await self._whole.wait()
        target.close()

    async def close(self) -> None:
        self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
