"""Places at the gates of providers, in the database that several processes share.

A place belongs to the member that took it and goes with it: a worker that dies holds up nobody.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from loop_ls.engine.journal.postgres import PostgresStorage
from loop_ls.engine.journal.postgres_connection import Line
from loop_ls.engine.journal.refusal import JournalRefused
from loop_ls.engine.providers.limits.shared_limits import Limits

#: Seconds that a place is offered back to a database that is away; after that the member is dead anyway.
PATIENCE = 60.0


class PostgresPlaces:
    """`storage` knows the address and who we are. `close` when no call goes on."""

    def __init__(self, storage: PostgresStorage) -> None:
        self._storage, self._line = storage, Line(storage.url)
        self._threads = ThreadPoolExecutor(2, "places")
        self._free: dict[str, asyncio.Event] = {}

    async def take(self, gate: str, limits: Limits, tokens: int) -> tuple[int | None, float | None]:
        asking = asyncio.get_running_loop().run_in_executor(self._threads, self._take, gate, limits, tokens)
        try:
            return await asyncio.shield(asking)
        except asyncio.CancelledError:
            asking.add_done_callback(lambda done: self._unwanted(gate, done))
            raise

    def _take(self, gate: str, limits: Limits, tokens: int) -> tuple[int | None, float | None]:
        try:
            found = self._line.ask(
                lambda db: db.execute(
                    "select place, wait from loop_ls.pass(%s, %s, %s::int, %s::int, %s::int, %s::int)",
                    (gate, self._storage.member, *limits, tokens),
                ).fetchone()
            )
        except JournalRefused:
            return None, None  # away: looked for again in a moment
        return found[0], found[1]

    def _unwanted(self, gate: str, done: asyncio.Future[tuple[int | None, float | None]]) -> None:
        """The call was stopped while it waited."""
        if not done.cancelled() and done.exception() is None and (place := done.result()[0]) is not None:
            self.leave(gate, place, 0)

    def leave(self, gate: str, place: int, tokens: int | None) -> None:
        with suppress(RuntimeError):  # closed: all places of this member go with it
            self._threads.submit(self._leave, gate, place, tokens)

    def _leave(self, gate: str, place: int, tokens: int | None) -> None:
        with suppress(JournalRefused):
            self._line.ask(
                lambda db: db.execute("select loop_ls.leave(%s, %s, %s::int)", (place, gate, tokens)), PATIENCE
            )

    def free(self, gate: str) -> asyncio.Event:
        return self._free.setdefault(gate, asyncio.Event())

    def freed(self, gate: str) -> None:
        if gate in self._free:
            self._free[gate].set()

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._line.close()
