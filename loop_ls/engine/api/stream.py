"""Events of runs as server-sent events: first what was missed, then what happens, each once.

`id:` is the position of a fact, so that `Last-Event-ID` works; streamed text has none. A listener
that does not read is dropped; the engine waits for nobody.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AbstractContextManager, nullcontext, suppress

from starlette.types import Message, Receive, Scope, Send

from loop_ls.text.json_value import JsonObject

HEARTBEAT_SECONDS = 10.0
#: How long a write may wait for a listener that does not read.
PATIENCE_SECONDS = 30.0


class EventStream:
    """An ASGI answer of one listener. `events` begins after `position` and ends with the engine.
    `known` says whether the listener's token still holds: one that was taken away hears no more. `present` and `there`
    are entered while it listens."""

    def __init__(
        self,
        events: AsyncGenerator[tuple[int, JsonObject]],
        position: int,
        present: AbstractContextManager[None],
        known: Callable[[], bool] = lambda: True,
        there: AbstractContextManager[None] | None = None,
    ) -> None:
        self._events, self._position, self._present, self._known = events, position, present, known
        self._there = there or nullcontext()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self._present, self._there:
            speaking = asyncio.ensure_future(self._speak(send))
            leaving = asyncio.ensure_future(_gone(receive))
            try:
                await asyncio.wait({speaking, leaving}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for task in (speaking, leaving):
                    task.cancel()
                await asyncio.gather(speaking, leaving, return_exceptions=True)

    async def _speak(self, send: Send) -> None:
        headers = [(b"content-type", b"text/event-stream"), (b"cache-control", b"no-store")]
        await _write(send, {"type": "http.response.start", "status": 200, "headers": headers})
        await _part(send, encoded({"position": self._position}, "hello", self._position))
        clock = asyncio.get_running_loop().time
        checked = clock()
        waiting: asyncio.Future[tuple[int, JsonObject] | None] = asyncio.ensure_future(_next(self._events))
        try:
            while True:
                done, _ = await asyncio.wait({waiting}, timeout=HEARTBEAT_SECONDS)
                if clock() - checked > HEARTBEAT_SECONDS / 2:
                    checked = clock()
                    if not self._known():
                        break
                if not done:
                    await _part(send, b": still here\n\n")
                    continue
                found = waiting.result()
                if found is None:
                    break
                waiting = asyncio.ensure_future(_next(self._events))
                await _part(send, encoded(found[1], None, found[0]))
        finally:
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)
            await self._events.aclose()
        await _part(send, encoded({}, "bye", None))
        await _write(send, {"type": "http.response.body", "body": b""})


def encoded(event: JsonObject, name: str | None, position: int | None) -> bytes:
    lines = [f"id: {position}"] if position else []
    if name:
        lines.append(f"event: {name}")
    lines.append(f"data: {json.dumps(event, ensure_ascii=False, separators=(',', ':'))}")
    return ("\n".join(lines) + "\n\n").encode("utf-8", "replace")


async def _next(events: AsyncIterator[tuple[int, JsonObject]]) -> tuple[int, JsonObject] | None:
    return await anext(events, None)


async def _part(send: Send, data: bytes) -> None:
    await _write(send, {"type": "http.response.body", "body": data, "more_body": True})


async def _write(send: Send, message: Message) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        await send(message)


async def _gone(receive: Receive) -> None:
    with suppress(OSError):
        while (await receive())["type"] != "http.disconnect":
            continue
