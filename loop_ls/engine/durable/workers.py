"""The heartbeat of one process among those that share a database, and its share of their runs.

DBOS does not notice a worker that died. Each one signs its row once a second; whoever finds one without a sign for
the time of its lease has DBOS put its runs back into the queue. What the other one still writes is refused.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import socket
import threading
import time
from contextlib import suppress
from typing import Any

from loop_ls.engine.durable.provider_leases import PostgresSlots
from loop_ls.engine.durable.run_queue import RunQueue
from loop_ls.engine.durable.spending_accounts import PostgresAccounts
from loop_ls.engine.journal.postgres import PostgresStorage
from loop_ls.engine.journal.postgres_connection import PostgresConnection
from loop_ls.engine.journal.postgres_schema import LEASE, newer
from loop_ls.engine.journal.refusal import JournalRefused
from loop_ls.engine.journal.schema import FORMAT
from loop_ls.engine.journal.storage import Storage
from loop_ls.engine.providers.registry import ProviderRegistry
from loop_ls.engine.recovery.cluster_member import ClusterMember

#: Seconds between two signs of life. A worker whose connection is gone too, as that of a process that was killed, is
#: dead after so many missed beats, before its lease is over.
BEAT, MISSED = 1.0, 1.7
AGAIN = 0.25
#: Held while tables of DBOS are made.
MIGRATING = 4_997_013
#: Seconds that making the tables may take, the waiting for others who do it included.
PREPARE = 60.0
#: Seconds that the end of DBOS may take.
PATIENCE = 3.0

SIGN = """
insert into loop_ls.worker(name, backend, waiting) values(%s, pg_backend_pid(), %s)
on conflict (name) do update set seen = clock_timestamp(), backend = excluded.backend, waiting = excluded.waiting
returning (select value::int from loop_ls.meta where name = 'format'), (select position from loop_ls.head)
"""
SHARE = "select loop_ls.share()"
OURS = "select workflow_uuid, owner_xid from dbos.workflow_status where executor_id = %s and status = 'PENDING'"
#: Who owns runs and is not alive. One that left has no row. Who was away itself (not `sure`) cannot tell who is dead,
#: and it may have taken longer than a lease to ask.
DEAD = """
select distinct s.executor_id from dbos.workflow_status s where s.status = 'PENDING' and s.queue_name = 'runs'
and s.executor_id <> %(me)s
and not exists (select 1 from loop_ls.worker w where w.name = s.executor_id and (not %(sure)s
    or w.seen > clock_timestamp() - make_interval(secs => %(missed)s)
    or (w.seen > clock_timestamp() - make_interval(secs => %(lease)s)
        and exists (select 1 from pg_stat_activity where pid = w.backend))))
"""
#: Unfinished runs that DBOS does not know, or knows of an older version, as after an update or a lost schema.
ADOPT = """
update dbos.workflow_status set application_version = %(version)s
    where queue_name = 'runs' and status in ('ENQUEUED', 'PENDING') and application_version <> %(version)s;
select loop_ls.enqueue(id, %(version)s) from loop_ls.run r where snapshot is null and last_seq > 0
    and not exists (select 1 from dbos.workflow_status where workflow_uuid = r.id);
delete from loop_ls.worker where seen < clock_timestamp() - interval '1 hour';
"""


class PostgresWorkers:
    """`takes` False: starts runs and shows them, and brings none to its end."""

    def __init__(
        self,
        storage: Storage,
        registry: ProviderRegistry | None = None,
        takes: bool = True,
        beat: float = BEAT,
        lease: float = LEASE,
    ) -> None:
        assert isinstance(storage, PostgresStorage)
        #: Unique even where two processes have one host name and one id, as in containers.
        self.executor = f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(4)}"
        self._takes, self._beat, self._lease = takes, beat, lease
        self._url, self._queue = storage.url, RunQueue(storage.url, self.executor)
        self._listener = PostgresConnection(
            storage.url, lambda db: db.execute("listen loop_ls"), limit=max(lease, beat + 1.0)
        )
        self._claims = PostgresConnection(storage.url)  # the other one listens most of the time
        self._thread = threading.Thread(target=self._live, name="heartbeat", daemon=True)
        self._leaving = threading.Event()
        self._since = self._signed = time.monotonic()  # connected without a cut; the last sign of life
        self.places = PostgresSlots(storage.url)
        self.accounts = PostgresAccounts(storage.url, self.places.free)
        if registry is not None:
            registry.places = self.places

    async def open(self, member: ClusterMember) -> None:
        """Become one of them. Raises `JournalRefused`."""
        self._member, self._loop = member, asyncio.get_running_loop()
        await asyncio.to_thread(PostgresConnection(self._url, limit=PREPARE).ask, self._prepare)
        if self._takes:
            await self._queue.open(member.bring)
        self._thread.start()

    def _prepare(self, db: Any) -> None:
        # Who waits inside a statement would hold up the indexes that DBOS makes concurrently, for ever.
        while not db.execute("select pg_try_advisory_lock(%s)", (MIGRATING,)).fetchone()[0]:
            time.sleep(AGAIN)
        try:
            self._queue.migrate()
            with db.transaction():
                for statement in filter(str.strip, ADOPT.split(";")):
                    db.execute(statement, {"version": str(FORMAT)})
        finally:
            db.execute("select pg_advisory_unlock(%s)", (MIGRATING,))
        if self._takes:
            db.execute(SIGN, (self.executor, 0))

    def claim(self, run_id: str) -> tuple[str, bool] | None:
        """From a thread: the token of our claim on a run, and whether somebody had it before. None: not ours."""
        found = self._claims.ask(
            lambda db: db.execute(
                "select owner_xid, recovery_attempts > 1 from dbos.workflow_status"
                " where workflow_uuid = %s and executor_id = %s and status = 'PENDING'",
                (run_id, self.executor),
            ).fetchone()
        )
        return (str(found[0]), bool(found[1])) if found else None

    # -- the heartbeat: from a thread, so that a busy loop does not delay it ---------------------------

    def _live(self) -> None:
        due = 0.0
        while not self._leaving.is_set():
            try:
                if time.monotonic() >= due:
                    due = time.monotonic() + self._beat
                    self._listener.ask(self._sign)
                if self._listener.ask(lambda db: self._listen(db, due)):  # noqa: B023
                    due = 0.0
            except JournalRefused as refused:
                if refused.code == "newer_format":
                    self._member.outdated(refused)
                    return
                self._since = time.monotonic()
                self._leaving.wait(AGAIN)
                due = 0.0
            except RuntimeError:
                return  # the loop of the engine has ended

    def _sign(self, db: Any) -> None:
        waiting = self._member.waiting if self._takes else None
        version, position = db.execute(SIGN, (self.executor, waiting)).fetchone()
        db.execute(SHARE)
        if version != FORMAT:
            raise newer(version)
        now = time.monotonic()
        if now - self._signed > self._lease:  # we may have been dead to the others
            had = self._member.claims
            self._member.lost(had - {(row[0], str(row[1])) for row in db.execute(OURS, (self.executor,))})
        self._signed = now
        self._member.facts(position)
        sure, missed = now - self._since > self._lease, MISSED * self._beat
        asked = {"me": self.executor, "sure": sure, "lease": self._lease, "missed": missed}
        if self._takes and (dead := [row[0] for row in db.execute(DEAD, asked)]):
            db.execute("delete from loop_ls.worker where name = any(%s)", (dead,))
            self._queue.recover(dead)
            db.execute(SHARE)

    def _listen(self, db: Any, until: float) -> bool:
        """Hear of the others until the next beat, or until somebody left and what it had shall go on."""
        facts, left = 0, until - time.monotonic()
        for told in db.notifies(timeout=left, stop_after=1) if left > 0 else ():
            word, _, rest = told.payload.partition(" ")
            if word == "place":
                self._loop.call_soon_threadsafe(self.places.freed, rest)
            elif word.isdigit():
                facts = max(facts, int(word))
            else:
                return True
        if facts:
            self._member.facts(facts)
        return False

    def drain(self) -> None:
        """Take nothing more off the queue."""
        if self._takes:
            self._queue.drain()

    # -- the end ---------------------------------------------------------------------------------------

    def close(self) -> None:
        """From a thread, after the last fact was written: what is unfinished goes on elsewhere at once."""
        self._leaving.set()
        self.places.close()
        self.accounts.close()
        self._thread.join(self._listener.limit + 1)
        with suppress(JournalRefused):
            self._listener.ask(lambda db: db.execute("delete from loop_ls.worker where name = %s", (self.executor,)))
            self._listener.ask(lambda db: db.execute("select pg_notify('loop_ls', 'left')"))
        self._listener.close()
        self._claims.close()
        if self._takes:  # its threads may sleep where the database was away; nothing that they do counts any more
            ending = threading.Thread(target=self._queue.close, name="queue-end", daemon=True)
            ending.start()
            ending.join(PATIENCE)
