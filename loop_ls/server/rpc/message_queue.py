"""Messages on their way from the reader to the event loop.

The reader may be a thread. Everything that arrived while the loop was busy is handed over as one
batch: changes are then applied before anything is analysed, and a request whose cancellation came
along is answered without being worked on.
"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Callable, Iterable
from typing import NamedTuple

from loop_ls.text.json_value import JsonObject

CANCEL = "$/cancelRequest"


class Malformed(NamedTuple):
    """A body that is no JSON message, with the reason."""

    reason: str


class Cancelled(NamedTuple):
    """A request that was taken back before it was looked at."""

    id: str | int


class EndOfInput:
    """The client closed its end."""


Arrival = JsonObject | Malformed | Cancelled | EndOfInput


class Inbox:
    """Where messages arrive, from the loop itself or from a thread."""

    def __init__(self, loop: asyncio.AbstractEventLoop, receive: Callable[[list[Arrival]], None]) -> None:
        self._loop, self._receive = loop, receive
        self._queue: deque[Arrival] = deque()
        self._woken = False

    def receive(self, arrivals: list[Arrival]) -> None:
        """Handle these at once. Only on the loop's own thread."""
        if arrivals:
            self._receive(without_cancelled(arrivals))

    def put(self, arrivals: Iterable[Arrival]) -> None:
        """Have the loop handle these. From any thread."""
        self._queue.extend(arrivals)
        if self._queue and not self._woken:
            self._woken = True
            try:
                self._loop.call_soon_threadsafe(self._hand_over)
            except RuntimeError:  # the loop is closed: nobody listens any more
                self._queue.clear()

    def _hand_over(self) -> None:
        # First the flag, then the queue: what is put in between wakes us once too often, never too seldom.
        self._woken = False
        batch: list[Arrival] = []
        while self._queue:
            batch.append(self._queue.popleft())
        if batch:
            self._receive(without_cancelled(batch))


def decode(body: bytes) -> Arrival:
    """One body as a message. Whether its members make sense is the protocol's business."""
    try:
        message = json.loads(body)
    except RecursionError:
        return Malformed("the message is nested too deeply")
    except ValueError as error:
        return Malformed(f"the message is not valid JSON: {error}")
    if not isinstance(message, dict):
        return Malformed("a message must be an object; batches are not supported")
    return message


def without_cancelled(batch: list[Arrival]) -> list[Arrival]:
    """The batch with requests that it also cancels replaced, and their cancellations left out."""
    if len(batch) < 2:
        return batch
    taken_back = {
        key
        for message in batch
        if isinstance(message, dict) and message.get("method") == CANCEL and (key := _cancelled_id(message)) is not None
    }
    if not taken_back:
        return batch
    arranged: list[Arrival] = []
    early: set[str | int] = set()
    for message in batch:
        if isinstance(message, dict):
            if "method" in message and isinstance(own := message.get("id"), str | int) and own in taken_back:
                early.add(own)
                arranged.append(Cancelled(own))
                continue
            if message.get("method") == CANCEL and _cancelled_id(message) in early:
                continue
        arranged.append(message)
    return arranged


def _cancelled_id(message: JsonObject) -> str | int | None:
    params = message.get("params")
    key = params.get("id") if isinstance(params, dict) else None
    return key if isinstance(key, str | int) else None
