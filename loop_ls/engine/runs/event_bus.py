"""Telling listeners what happens, without ever waiting for one.

All listeners read one short ring of recent events. One that falls behind reads what it missed from the
journal: facts are never lost to it and never doubled; streamed text, which no journal holds, may be.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace

from loop_ls.engine.events import Event
from loop_ls.engine.journal import Page, weight
from loop_ls.text.json_value import JsonObject

RING = 2048
PAGE = 500
#: Streamed text is gathered this long before it is shown: tokens come faster than eyes.
GATHER = 0.05

#: Events with more text than this are not kept in the ring: whoever comes to one reads the journal.
HEAVY = 32_000
_NOTHING = Event("", 0, 0.0, "", {})
_ELSEWHERE: JsonObject = {}
Since = Callable[[int, int], Awaitable[Page]]


class EventBus:
    """`since(position, limit)` reads the journal; `clock` dates streamed text."""

    def __init__(self, since: Since, position: int, clock: Callable[[], float]) -> None:
        self._since, self._clock = since, clock
        self._ring: list[Event] = [_NOTHING] * RING
        self._next = 0
        self.position = position
        self._waiting: set[asyncio.Event] = set()
        self._texts: dict[tuple[str, str], list[str]] = {}
        self._places: dict[tuple[str, str], JsonObject] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._closed = False

    # -- what comes in ---------------------------------------------------------------------------

    def publish(self, events: list[Event]) -> None:
        """Facts that were committed, in the order of their positions."""
        self.flush()
        for event in events:
            self._push(event)
            self.position = max(self.position, event.position)
        self._wake()

    def show(self, run_id: str, text: str, place: JsonObject) -> None:
        """Streamed text of a call; gathered for a moment."""
        if not self._waiting:
            return
        key = (run_id, str(place.get("place", "")))
        self._texts.setdefault(key, []).append(text)
        self._places[key] = place
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(GATHER, self._flush_and_wake)

    def gone(self, run_id: str) -> None:
        """A run was deleted. Like text it is told and not journalled: there is nothing left to hold it."""
        self.flush()
        self._push(Event(run_id, 0, self._clock(), "deleted", {}))
        self._wake()

    def flush(self) -> None:
        """Text comes before the facts that follow from it."""
        for key, parts in self._texts.items():
            body = {**self._places[key], "text": "".join(parts)}
            self._push(Event(key[0], 0, self._clock(), "text", body))
        self._texts.clear()
        self._places.clear()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def close(self) -> None:
        self._closed = True
        self._wake()

    def _flush_and_wake(self) -> None:
        self.flush()
        self._wake()

    def _push(self, event: Event) -> None:
        if event.position and weight(event) > HEAVY:
            event = replace(event, body=_ELSEWHERE)
        self._ring[self._next % RING] = event
        self._next += 1

    def _wake(self) -> None:
        for waiting in self._waiting:
            waiting.set()

    # -- what goes out ---------------------------------------------------------------------------

    @property
    def listeners(self) -> int:
        return len(self._waiting)

    def listen(self, after: int | None = None, run_id: str | None = None) -> AsyncIterator[Event]:
        """Events from now on; with `after`, first the facts above that position. Ends with the engine."""
        position, index = (self.position, self._next) if after is None else (after, None)
        return self._listen(position, index, run_id)

    async def _listen(self, position: int, index: int | None, run_id: str | None) -> AsyncIterator[Event]:
        woken = asyncio.Event()
        self._waiting.add(woken)
        try:
            while True:
                if index is None or index < self._next - RING:
                    mark = self._next  # all facts before it are in the journal by now
                    page = await self._since(position, PAGE)
                    for event in page.events:
                        position = event.position
                        if run_id in (None, event.run_id):
                            yield event
                    index = None if page.more else mark
                elif index < self._next:
                    event = self._ring[index % RING]
                    index += 1
                    if 0 < event.position <= position:
                        continue
                    position = event.position or position
                    if run_id in (None, event.run_id):
                        yield event if event.body is not _ELSEWHERE else await self._whole(event)
                elif self._closed:
                    return
                else:
                    woken.clear()
                    await woken.wait()
        finally:
            self._waiting.discard(woken)

    async def _whole(self, event: Event) -> Event:
        page = await self._since(event.position - 1, 1)
        return page.events[0] if page.events else event
