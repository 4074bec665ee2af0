"""Places at the gates of providers, in the database that several processes share.

A place is an advisory lock of PostgreSQL: it goes with the connection of the process that took it, so a worker
that dies holds up nobody.
"""

from __future__ import annotations

import asyncio
import secrets
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from loop_ls.engine.journal.postgres_connection import PostgresConnection
from loop_ls.engine.journal.refusal import JournalRefused
from loop_ls.engine.providers.limits.shared_limits import Limits

#: Seconds that a place is offered back to a database that is away.
PATIENCE = 60.0
LEAVE = """
with unlocked as materialized (select %s = 0 or pg_advisory_unlock(hashtext(%s), %s)),
    counted as (update loop_ls.passed set tokens = %s::int where call = %s and %s::int is not null)
select pg_notify('loop_ls', 'place ' || %s) from unlocked
"""


class PostgresSlots:
    """`close` when no call goes on."""

    def __init__(self, url: str) -> None:
        self._line = PostgresConnection(url)
        self._threads = ThreadPoolExecutor(1, "places")
        self._free: dict[str, asyncio.Event] = {}
        self._held: dict[str, tuple[str, int]] = {}  # call -> its gate and the number of its place there

    async def take(self, gate: str, limits: Limits, tokens: int) -> tuple[str | None, float | None]:
        asking = asyncio.get_running_loop().run_in_executor(self._threads, self._take, gate, limits, tokens)
        try:
            return await asyncio.shield(asking)
        except asyncio.CancelledError:
            asking.add_done_callback(lambda done: self._unwanted(gate, done))
            raise

    def _take(self, gate: str, limits: Limits, tokens: int) -> tuple[str | None, float | None]:
        call = secrets.token_hex(8)
        held = [slot for place, slot in self._held.values() if place == gate]
        try:
            slot, wait = self._line.ask(
                lambda db: db.execute(
                    "select slot, wait from loop_ls.pass(%s, %s, %s::int[], %s::int, %s::int, %s::int, %s::int)",
                    (gate, call, held, *limits, tokens),
                ).fetchone()
            )
        except JournalRefused:
            return None, None  # away: looked for again in a moment
        if slot is None:
            return None, wait
        self._held[call] = gate, slot
        return call, None

    def _unwanted(self, gate: str, done: asyncio.Future[tuple[str | None, float | None]]) -> None:
        """The call was stopped while it waited."""
        if not done.cancelled() and done.exception() is None and (place := done.result()[0]) is not None:
            self.leave(gate, place, 0)

    def leave(self, gate: str, place: str, tokens: int | None) -> None:
        with suppress(RuntimeError):  # closed: all places go with the connection
            self._threads.submit(self._leave, gate, place, tokens)

    def _leave(self, gate: str, call: str, tokens: int | None) -> None:
        _, slot = self._held.pop(call)
        with suppress(JournalRefused):
            self._line.ask(
                lambda db: db.execute(LEAVE, (slot, gate, slot, tokens, call, tokens, gate)).fetchone(), PATIENCE
            )

    def free(self, gate: str) -> asyncio.Event:
        return self._free.setdefault(gate, asyncio.Event())

    def freed(self, gate: str) -> None:
        if gate in self._free:
            self._free[gate].set()

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._line.close()
