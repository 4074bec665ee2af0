"""One connection, with limits for clients that are slow on purpose or by accident.

uvicorn waits for ever for the head of a request and for a peer that does not read. Here a head has a
time limit, and so has a write that nobody takes; the engine keeps nothing for such a peer.
"""

from __future__ import annotations

import asyncio
from email.utils import formatdate

from uvicorn.protocols.http.h11_impl import H11Protocol

#: From the opening of a connection, or its first byte after an answer, to the end of the head.
HEAD_SECONDS = 10.0
#: How long what was written may wait for a peer that does not read.
WRITE_SECONDS = 60.0


class Connection(H11Protocol):
    """A time limit for each direction; what ends a connection early is never an error of the engine."""

    _head: asyncio.TimerHandle | None = None
    _write: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._head_came()
        self._written()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self.server_state.default_headers = [(b"date", formatdate(usegmt=True).encode())]
        super().data_received(data)
        if self.transport.get_protocol() is not self:  # handed over to a WebSocket, which may be silent for hours
            self._head_came()
            self._written()
        elif self.cycle is None or self.cycle.response_complete:
            self._await_head()
        else:
            self._head_came()

    def pause_writing(self) -> None:
        super().pause_writing()
        if self._write is None:
            self._write = self.loop.call_later(WRITE_SECONDS, self._give_up)

    def resume_writing(self) -> None:
        self._written()
        super().resume_writing()

    def on_response_complete(self) -> None:
        self._head_came()  # the wait for a next request has a limit of its own
        super().on_response_complete()

    def _await_head(self) -> None:
        if self._head is None and not self.transport.is_closing():
            self._head = self.loop.call_later(HEAD_SECONDS, self._give_up)

    def _head_came(self) -> None:
        if self._head is not None:
            self._head.cancel()
            self._head = None

    def _written(self) -> None:
        if self._write is not None:
            self._write.cancel()
            self._write = None

    def _give_up(self) -> None:
        self.transport.abort()
