"""Streamed text on its way to the editor: at most ten messages per second and run, nothing lost.

Pieces that belong to the same place are joined; facts never wait for text, they push it out first.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from loop_ls.text.json_value import JsonObject

#: Seconds between two messages of one run.
INTERVAL = 0.1


class TextFeed:
    """Holds text back until its run may speak again."""

    def __init__(self, send: Callable[[JsonObject], None], interval: float = INTERVAL) -> None:
        self._send, self._interval = send, interval
        self._pending: dict[str, list[JsonObject]] = {}
        self._timers: dict[str, asyncio.TimerHandle] = {}

    def add(self, event: JsonObject) -> None:
        run = str(event["runId"])
        waiting = self._pending.setdefault(run, [])
        if waiting and _place(waiting[-1]) == _place(event):
            joined = str(waiting[-1].get("text", "")) + str(event.get("text", ""))
            waiting[-1] = {**event, "text": joined}
        else:
            waiting.append(event)
        if run not in self._timers:
            self._release(run, self._pending.pop(run))

    def push(self, run: str) -> None:
        """Send what is held back for a run now, because a fact of it comes next."""
        for event in self._pending.pop(run, []):
            self._send(event)

    def close(self) -> None:
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()
        self._pending.clear()

    def _release(self, run: str, events: list[JsonObject]) -> None:
        self._send(events[0])
        if len(events) > 1:
            self._pending[run] = events[1:]
        self._timers[run] = asyncio.get_running_loop().call_later(self._interval, self._due, run)

    def _due(self, run: str) -> None:
        del self._timers[run]
        if events := self._pending.pop(run, []):
            self._release(run, events)


def _place(event: JsonObject) -> JsonObject:
    return {name: value for name, value in event.items() if name not in ("text", "at")}
