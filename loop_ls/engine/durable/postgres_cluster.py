"""One process among others on one database: its sign of life, its share of the queue, and the ears for all.

A member that gives no sign for the time of its lease is dead to the others: its runs go back to the queue,
and what it still writes is refused. Whoever comes back after that is a new member without runs.
"""

from __future__ import annotations

import os
import socket
import threading
import time
from contextlib import suppress
from typing import Any

from loop_ls.engine.core.run_owner import Ears, Taken
from loop_ls.engine.durable.provider_leases import PostgresPlaces
from loop_ls.engine.journal.postgres import PostgresStorage
from loop_ls.engine.journal.postgres_connection import Line
from loop_ls.engine.journal.postgres_schema import LEASE, newer
from loop_ls.engine.journal.refusal import JournalRefused
from loop_ls.engine.journal.schema import FORMAT
from loop_ls.engine.journal.storage import Storage
from loop_ls.engine.providers.registry import House

#: Seconds between two signs of life; they come from a thread, so a busy loop does not delay them.
BEAT = 1.0
#: Beats after which a member without a connection is dead: one that lives is back long before.
MISSED = 1.7
#: Runs taken at once: others shall have theirs. Who has many already lets others come first.
SHARE, SHARE_MOST = 4, 64
STEP_BACK = 0.002
STEP_BACK_MOST = 0.05
AGAIN = 0.25


class PostgresCrew:
    """`open` makes this process a member; `close` gives its runs back at once."""

    def __init__(self, storage: PostgresStorage, beat: float = BEAT, lease: float = LEASE) -> None:
        self._storage, self._beat, self._lease = storage, beat, lease
        self._name = f"{socket.gethostname()}:{os.getpid()}"
        self._line = Line(storage.url, lambda db: db.execute("listen loop_ls"), limit=max(lease, beat + 1.0))
        self._thread: threading.Thread | None = None
        self._leaving = threading.Event()
        self._member = 0
        self.places: PostgresPlaces | None = None
        self._since = time.monotonic()  # connected without a cut

    @classmethod
    def of(cls, storage: Storage, house: House | None = None) -> PostgresCrew:
        """The crew that belongs to a journal in PostgreSQL; `house`: whose limits hold for all together."""
        assert isinstance(storage, PostgresStorage)
        made = cls(storage)
        if house is not None:
            house.places = made.places = PostgresPlaces(storage)
        return made

    def open(self, ears: Ears) -> None:
        """Raises `JournalRefused`."""
        self._ears = ears
        self._join()
        self._thread = threading.Thread(target=self._live, name="crew", daemon=True)
        self._thread.start()

    def _join(self) -> None:
        made = self._line.ask(
            lambda db: db.execute(
                "insert into loop_ls.member(name, backend) values(%s, pg_backend_pid()) returning number", (self._name,)
            ),
            patience=0.0,
        ).fetchone()
        self._member = self._storage.member = int(made[0])
        self._since = time.monotonic()

    # -- the thread --------------------------------------------------------------------------------

    def _live(self) -> None:
        due = 0.0
        while not self._leaving.is_set():
            try:
                if time.monotonic() >= due:
                    due = time.monotonic() + self._beat
                    self._sign()
                    self._line.ask(self._take)
                self._line.ask(lambda db: self._listen(db, due))  # noqa: B023
            except JournalRefused as refused:
                if refused.code == "newer_format":
                    self._ears.outdated(refused)
                    return
                self._since = time.monotonic()
                self._leaving.wait(AGAIN)
                due = 0.0
            except RuntimeError:
                return  # the loop of the engine has ended

    def _sign(self) -> None:
        """Alive; who else is not?"""
        found = self._line.ask(
            lambda db: db.execute(
                "update loop_ls.member set seen = clock_timestamp(), backend = pg_backend_pid() where number = %s"
                " returning (select value::int from loop_ls.meta where name = 'format'),"
                " (select position from loop_ls.head)",
                (self._member,),
            ).fetchone()
        )
        if found is None:
            self._ears.lost()
            self._join()
            return
        if found[0] != FORMAT:
            raise newer(found[0])
        self._ears.facts(found[1])
        if time.monotonic() - self._since > self._lease:
            # Who was away itself cannot tell who is dead: the others may have been away with it.
            missed = MISSED * self._beat
            self._line.ask(lambda db: db.execute("select loop_ls.bury(%s, %s)", (self._lease, missed)))

    def _listen(self, db: Any, until: float) -> None:
        left = until - time.monotonic()
        if left <= 0:
            return
        facts, queue = 0, False
        for told in db.notifies(timeout=left, stop_after=1):
            word, _, rest = told.payload.partition(" ")
            if word == "place" and self.places is not None:
                self._ears.free(rest)
            elif word.isdigit():
                facts, queue = max(facts, int(word)), True
            else:
                queue = queue or word == "free"
        if facts:
            self._ears.facts(facts)
        if queue:
            self._take(db)

    def _take(self, db: Any) -> None:
        """A few at first, so that others get theirs; more, while the queue is long."""
        share = SHARE
        if (load := self._ears.load()) > 0 and self._ears.room() > 0:
            time.sleep(min(load * STEP_BACK, STEP_BACK_MOST))
        while (room := min(self._ears.room(), share)) > 0:
            rows = db.execute("select id, takes from loop_ls.claim(%s, %s)", (self._member, room)).fetchall()
            if rows:
                self._ears.taken([Taken(run_id, takes > 1) for run_id, takes in rows])
            if len(rows) < room:
                return
            share = min(2 * share, SHARE_MOST)

    def freed(self, gate: str) -> None:
        if self.places is not None:
            self.places.freed(gate)

    # -- the end -------------------------------------------------------------------------------------

    def close(self) -> None:
        """From a thread, after the last fact was written."""
        self._leaving.set()
        if self.places is not None:
            self.places.close()
        if self._thread is not None:
            self._thread.join(self._line.limit + 1)
        with suppress(JournalRefused):
            self._line.ask(lambda db: db.execute("select loop_ls.part(%s)", (self._member,)))
        self._line.close()
