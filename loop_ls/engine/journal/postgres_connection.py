"""One connection to PostgreSQL that never waits without end and comes back after a cut.

A network that swallows what is sent gives no error of its own: whoever waits longer than allowed gives the connection
up. Knows no table.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from loop_ls.engine.journal.refusal import JournalRefused

if TYPE_CHECKING:
    from psycopg import Connection
    from psycopg.abc import PQGen

T = TypeVar("T")
#: Seconds that one statement may take.
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
                    return work(self._connected())
            except Exception as error:
                if not _lost(error):
                    raise refusal(error) from error
                self._drop()
                if self._closed or time.monotonic() >= deadline:
                    raise unreachable(self._url) from error
            time.sleep(AGAIN)

    def _connected(self) -> Any:
        if self._closed:
            raise JournalRefused("closed", "The journal is closed: the engine is shutting down.")
        if self._db is None:
            made: Any = _bounded().connect(self._url, autocommit=True, application_name="loop-ls", **CONNECT)
            made.limit = self.limit
            self._setup(made)
            self._db = made
        return self._db

    def _drop(self) -> None:
        with self._lock:
            if self._db is not None:
                with suppress(Exception):
                    self._db.close()
                self._db = None

    def close(self) -> None:
        self._closed = True
        self._drop()


@cache
def _bounded() -> type[Connection]:
    """The connection of psycopg, whose statements wait for ever where nobody bounds them."""
    import psycopg

    class Bounded(psycopg.Connection):
        limit = LIMIT

        def wait(self, gen: PQGen[T], interval: float = 0.1, timeout: float | None = None) -> T:
            return super().wait(gen, interval, self.limit if timeout is None else timeout)

    return Bounded


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
        "Check that it is running and that `engine.databaseUrl` is correct; runs continue as soon as it responds.",
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
            return JournalRefused("disk_full", told, "Free some space there; runs then continue where they were.")
        case "25006" | "42501":
            told = "The journal cannot be written: the database user has no write permission."
            return JournalRefused("read_only", told, "Use the primary server, and a user with write permission.")
        case _ if state[:2] in ("28", "3D"):
            return JournalRefused(
                "unreachable", f"The database rejects the connection: {said}.", "Check `engine.databaseUrl`."
            )
        case _ if state[:2] == "XX":
            return JournalRefused("damaged", f"The database is damaged: {said}.", "Restore a copy of it.")
        case _:
            return JournalRefused("io", f"The journal cannot be used: {said}.", "See the log of the database.")
