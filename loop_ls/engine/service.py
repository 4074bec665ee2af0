"""The engine's operations, as every surface calls them: plain JSON objects in and out, no HTTP.

A refusal is an answer `{ok: False, code, message, hint}`, never an exception.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

Answer = dict[str, Any]


class Engine:
    """One per data folder. `open` inside the running event loop, `close` before it ends."""

    async def start(self, request: Answer) -> Answer:
        """Argument of `loopLs.run` with `root` and `path` or `uri` -> `{ok, runId}`."""
        raise NotImplementedError

    async def control(self, verb: str, run_id: str, **details: Any) -> Answer:
        """`pause`, `resume`, `stop` of one run or `all` -> `{ok, runs: [{runId, status}]}`."""
        raise NotImplementedError

    async def runs(self, status: str | None = None, uri: str | None = None, limit: int | None = None) -> Answer:
        """`{ok, runs: [RunState]}`, newest first."""
        raise NotImplementedError

    async def state(self, run_id: str) -> Answer:
        """`{ok, state: RunState}`. The id may be shortened, here and everywhere."""
        raise NotImplementedError

    async def events(self, run_id: str | None = None, after: int = 0, limit: int | None = None) -> Answer:
        """Facts of one run above seq `after`, or of all runs above position `after`
        -> `{ok, events, next}`."""
        raise NotImplementedError

    def subscribe(self) -> AsyncIterator[tuple[int, Answer]]:
        """`(position, event)` of all runs as they are journalled (`text` with position 0), from now
        on; ask `events` for what came before."""
        raise NotImplementedError
