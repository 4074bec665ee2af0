"""Listening to an engine without gap and without double, whatever happens to the connection.

Facts carry positions; a reconnection asks for what lies after the last one seen, and whatever comes
twice is dropped. An engine that says goodbye is not started again; one that vanished may be.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing
from typing import TYPE_CHECKING, Protocol

from loop_ls.client.engine_location import EngineUnavailable, Handover
from loop_ls.text.json_value import JsonObject, int_field

if TYPE_CHECKING:
    import httpx

Event = JsonObject

#: Above the heartbeat of the engine (10 s): more silence than this is a dead connection.
SILENCE_SECONDS = 25.0
FIRST_WAIT, LONGEST_WAIT = 0.05, 2.0


class Connection(Protocol):
    """What listening needs of a client."""

    handover: Handover

    @property
    def closing(self) -> asyncio.Event: ...

    async def http(self) -> httpx.AsyncClient: ...

    async def renew(self, *, revive: bool = True) -> bool: ...


class _Goodbye(Exception):
    """The engine ends on purpose."""


async def follow(
    client: Connection,
    after: int | None,
    run_id: str | None,
    on_connection: Callable[[bool], None] | None,
) -> AsyncIterator[Event]:
    """See `EngineClient.follow`."""
    place, connected, revive, wait = _StreamPosition(after), False, True, FIRST_WAIT
    left: object = None  # the engine that said goodbye; it may take a last connection on its way out
    tell = on_connection or (lambda up: None)
    while not client.closing.is_set():
        try:
            async with aclosing(_stream(client, place, run_id)) as events:
                async for event in events:
                    if not connected:
                        connected, revive, wait = True, client.handover != left, FIRST_WAIT
                        tell(True)
                    if event is not None:
                        yield event
        except _NoSuchRun:
            return
        except _Goodbye:
            revive, left = False, client.handover
        except EngineUnavailable:
            pass
        if client.closing.is_set():
            return
        if connected:
            connected = False
            tell(False)
        await client.renew(revive=revive)
        wait = await _pause(client, wait)


class _NoSuchRun(Exception):
    """There is nothing to listen to."""


class _StreamPosition:
    """Where in the events of the data folder we are."""

    def __init__(self, after: int | None) -> None:
        self.position = after

    def passes(self, event: JsonObject) -> bool:
        """Whether the event is new; then it is behind us."""
        position = event.get("position")
        if not isinstance(position, int):
            return True
        if self.position is not None and position <= self.position:
            return False
        self.position = position
        return True


async def _stream(client: Connection, place: _StreamPosition, run_id: str | None) -> AsyncGenerator[Event | None, None]:
    """Events of one connection; None says that it stands. Ends when it breaks."""
    import httpx

    query = {"after": place.position, "run": run_id}
    params = {name: str(value) for name, value in query.items() if value is not None}
    timeout = httpx.Timeout(SILENCE_SECONDS, connect=2.0)
    try:
        http = await client.http()
        async with http.stream("GET", "/api/v1/events", params=params, timeout=timeout) as response:
            if response.status_code == 404:
                raise _NoSuchRun
            if response.status_code != 200:
                raise EngineUnavailable(f"The engine does not send events ({response.status_code}).")
            async for name, data in _events(response.aiter_bytes(), client.closing):
                if name == "bye":
                    raise _Goodbye
                if name == "hello":
                    place.position = int_field(data, "position") if place.position is None else place.position
                    yield None
                elif place.passes(data):
                    yield data
    except httpx.TransportError:
        return


async def _events(chunks: AsyncIterator[bytes], closing: asyncio.Event) -> AsyncIterator[tuple[str, Event]]:
    """Whole events out of bytes, split on line feeds only (texts may hold U+2028)."""
    closed = asyncio.ensure_future(closing.wait())
    rest, name, data = bytearray(), "", b""
    try:
        while True:
            reading = asyncio.ensure_future(anext(chunks, None))
            try:
                await asyncio.wait({reading, closed}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                if not reading.done():
                    reading.cancel()
                    await asyncio.gather(reading, return_exceptions=True)
            if closing.is_set() or (chunk := reading.result()) is None:
                return
            rest += chunk
            if b"\n" not in chunk:  # a long output is one line: splitting it at each chunk would take minutes
                continue
            *lines, rest = rest.split(b"\n")
            for line in lines:
                if line.startswith(b"data:"):
                    data = bytes(line[5:])
                elif line.startswith(b"event:"):
                    name = line[6:].strip().decode("ascii", "replace")
                elif not line and data:
                    yield name, json.loads(data)
                    name, data = "", b""
    finally:
        closed.cancel()


async def _pause(client: Connection, wait: float) -> float:
    try:
        async with asyncio.timeout(wait):
            await client.closing.wait()
    except TimeoutError:
        return min(wait * 2, LONGEST_WAIT)
    return wait
