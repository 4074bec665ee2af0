"""One connection to PostgreSQL that never waits without end and comes back after a cut.

A network that swallows what is sent gives no error of its own: whoever waits longer than allowed has the
connection taken away. Knows no table.
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeVar
from urllib.parse import urlsplit

from loop_ls.engine.journal.refusal import JournalRefused

T = TypeVar("T")
#: Seconds that one question to the database may take.
LIMIT = 4.0
#: Seconds between two tries to connect.
AGAIN = 0.25
CONNECT: dict[str, Any] = {"connect_timeout": 4, "keepalives_idle": 5, "keepalives_interval": 2}


class PostgresConnection:
    """`setup` runs on each new connection. Calls do not overlap: whoever comes second waits."""

    def __init__(self, url: str, setup: Callable[[Any], None] = lambda db: None, limit: float = LIMIT) -> None:
        self._url, self._setup, self.limit = url, setup, limit
        self._lock = threading.RLock()
        self._db: Any = None
        self._closed = False

    def ask(self, work: Callable[[Any], T], patience: float = 0.0) -> T:
        """`work(connection)`. A lost connection is tried again for `patience` seconds: `work` must stand
        being done twice. Raises `JournalRefused` for what the database or the network says."""
        deadline = time.monotonic() + patience
        while True:
            try:
                with self._lock:
                    db = self._connected()
                    with self._watched(db):
                        return work(db)
            except Exception as error:
                if not _lost(error):
                    raise refusal(error) from error
                self._drop()
                if self._closed or time.monotonic() >= deadline:
                    raise unreachable(self._url) from error
            time.sleep(AGAIN)

    def _connected(self) -> Any:
        import psycopg

        if self._closed:
            raise JournalRefused("closed", "The journal is closed: the engine is leaving.")
        if self._db is None:
            made = psycopg.connect(self._url, autocommit=True, application_name="loop-ls", **CONNECT)
            with self._watched(made):
                self._setup(made)
            self._db = made
        return self._db

    @contextmanager
    def _watched(self, db: Any) -> Iterator[None]:
        """Take the connection away from whoever waits too long."""
        timer = WATCH.after(self.limit, lambda: _cut(db))
        try:
            yield
        finally:
            timer.done = True

    def _drop(self) -> None:
        with self._lock:
            if self._db is not None:
                with suppress(Exception):
                    self._db.close()
                self._db = None

    def close(self) -> None:
        self._closed = True
        self._drop()


class _Due:
    __slots__ = ("done", "then", "when")

    def __init__(self, when: float, then: Callable[[], None]) -> None:
        self.when, self.then, self.done = when, then, False


class _Watch:
    """One thread for all limits: looks twice a second."""

    def __init__(self) -> None:
        self._due: list[_Due] = []
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def after(self, seconds: float, then: Callable[[], None]) -> _Due:
        due = _Due(time.monotonic() + seconds, then)
        with self._lock:
            self._due.append(due)
            if self._thread is None:
                self._thread = threading.Thread(target=self._look, name="database-limits", daemon=True)
                self._thread.start()
        return due

    def _look(self) -> None:
        while True:
            time.sleep(0.5)
            now = time.monotonic()
            with self._lock:
                late = [due for due in self._due if not due.done and due.when <= now]
                self._due = [due for due in self._due if not due.done and due.when > now]
            for due in late:
                with suppress(Exception):
                    due.then()


WATCH = _Watch()


def _cut(db: Any) -> None:
    """Wakes the thread that waits on it, with an error."""
    import os

    handle = os.dup(db.pgconn.socket)
    with socket.socket(fileno=handle) as found:
        found.shutdown(socket.SHUT_RDWR)


def _lost(error: Exception) -> bool:
    """The connection is gone, or the server takes none, or two writers met: worth another try."""
    import psycopg
    from psycopg import errors

    if isinstance(error, errors.DeadlockDetected | errors.SerializationFailure):
        return True
    refused = isinstance(error, psycopg.OperationalError) and (getattr(error, "sqlstate", None) or "")[:2] in (
        "28",
        "3D",
    )
    full = isinstance(error, errors.DiskFull | errors.InvalidCatalogName)
    return isinstance(error, psycopg.OperationalError | psycopg.InterfaceError) and not refused and not full


def unreachable(url: str) -> JournalRefused:
    return JournalRefused(
        "unreachable",
        f"The database at {where(url)} cannot be reached.",
        "Check that it runs and that `engine.databaseUrl` names it; runs go on as soon as it answers.",
    )


def where(url: str) -> str:
    """Host and name of a database, without user and password."""
    parts = urlsplit(url)
    return f"{parts.hostname or 'this machine'}{f':{parts.port}' if parts.port else ''}{parts.path}"


def refusal(error: Exception) -> JournalRefused:
    """What the database says, as a refusal."""
    if isinstance(error, JournalRefused):
        return error
    state, said = getattr(error, "sqlstate", None) or "", str(error).splitlines()[0] if str(error) else repr(error)
    match state:
        case "53100":
            told = "The journal cannot be written: the disk of the database is full."
            return JournalRefused("disk_full", told, "Free some space there; runs go on where they were.")
        case "25006" | "42501":
            told = "The journal cannot be written: the database allows this user no writing."
            return JournalRefused("read_only", told, "Use the primary server, and a user who may write there.")
        case _ if state[:2] in ("28", "3D"):
            return JournalRefused("unreachable", f"The database lets nobody in: {said}.", "Check `engine.databaseUrl`.")
        case _ if state[:2] == "XX":
            return JournalRefused("damaged", f"The database is damaged: {said}.", "Restore a copy of it.")
        case _:
            return JournalRefused("io", f"The journal cannot be used: {said}.", "Look into the log of the database.")
