"""Where the records around role loops lie: a file of the data folder, or the database that several engines
share. Each piece of work is one transaction, and one comes after the other.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol, TypeVar

from loop_ls.engine.journal.postgres_connection import PostgresConnection
from loop_ls.engine.journal.refusal import JournalRefused
from loop_ls.engine.roles.records.tables import INDEXED, NUMBERS, POSTGRES, SQLITE, TABLES, Connection, Dialect

T = TypeVar("T")
FILE_NAME = "records.db"
#: Held while tables are made, and by each transaction: what two engines do at once comes one after the other.
MAKING, WORKING = 4_997_014, 4_997_015
#: Seconds that a run waits for a database that is away; after that its engine has lost the run anyway.
PATIENCE = 60.0
#: Seconds that closing the file waits for what is being done.
CLOSING = 2.0


class Unavailable(Exception):
    """The records cannot be used now; the sentence says why."""


class Store(Protocol):
    """`threads`: how many callers it stands at once. Raises `Unavailable`."""

    dialect: Dialect
    threads: int

    def within(self, work: Callable[[Connection], T], patience: float) -> T:
        """`work` in one transaction; it must stand being done twice."""
        ...

    def close(self) -> None: ...


class FileStore:
    """One SQLite file, used by one thread; closed from another, which folds its log into it."""

    dialect, threads = SQLITE, 1

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE_NAME
        self._connection: sqlite3.Connection | None = None
        self._using = threading.Lock()

    def within(self, work: Callable[[Connection], T], patience: float) -> T:
        with self._using:
            return self._within(work)

    def _within(self, work: Callable[[Connection], T]) -> T:
        try:
            if self._connection is None:
                self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                self._connection = _opened(self._path)
            with self._connection:
                return work(self._connection)
        except (sqlite3.Error, OSError) as error:
            raise Unavailable(str(error)) from error

    def close(self) -> None:
        """Work that is being done is waited for, but not for ever: each transaction is complete without it."""
        if self._using.acquire(timeout=CLOSING):
            try:
                if self._connection is not None:
                    self._connection.close()
                    self._connection = None
            finally:
                self._using.release()


class SharedStore:
    """The PostgreSQL at `url`, beside the journal."""

    dialect, threads = POSTGRES, 4

    def __init__(self, url: str) -> None:
        self._line = PostgresConnection(url, _made)

    def within(self, work: Callable[[Connection], T], patience: float) -> T:
        def done(db: Any) -> T:
            with db.transaction():
                db.execute("select pg_advisory_xact_lock(%s)", (WORKING,))
                return work(db)

        try:
            return self._line.ask(done, patience)
        except JournalRefused as refused:
            raise Unavailable(refused.message) from refused

    def close(self) -> None:
        self._line.close()


def _opened(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=10, check_same_thread=False)
    path.chmod(0o600)
    connection.execute("pragma journal_mode = wal")
    connection.execute("pragma synchronous = normal")
    for table, columns in TABLES.items():
        told = ", ".join(("id text primary key", "created_at text", *columns))
        connection.execute(f"create table if not exists {table} ({told})")
        there = {row[1] for row in connection.execute(f"pragma table_info({table})")}
        for column in columns:
            if column not in there:
                connection.execute(f"alter table {table} add column {column}")
    for table, column in INDEXED:
        connection.execute(f"create index if not exists {table}_{column} on {table} ({column})")
    connection.commit()
    return connection


def _made(db: Any) -> None:
    with db.transaction():
        db.execute("select pg_advisory_xact_lock(%s)", (MAKING,))
        db.execute("create schema if not exists loop_ls")
        for table, columns in TABLES.items():
            db.execute(
                f"create table if not exists loop_ls.{table}"
                "(number bigint generated always as identity, id text primary key, created_at text)"
            )
            for column in columns:
                type_ = "int" if column in NUMBERS else "text"
                db.execute(f"alter table loop_ls.{table} add column if not exists {column} {type_}")
        for table, column in INDEXED:
            db.execute(f"create index if not exists {table}_{column} on loop_ls.{table} ({column})")
