"""The write-ahead log of the SQLite journal: forced to the disk, kept small, and never let grow bit by bit.

A commit only writes into the log, which takes microseconds and survives the end of the process; `sync` is
what waits for the disk. A log that has its size already is forced in half the time of one that grows.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from contextlib import suppress
from pathlib import Path

from loop_ls.engine.journal.refusal import JournalRefused

#: Size of the log from the start. Commits after which it is emptied: they fill about that much.
SIZE = 2_000_000
COMMITS = 380
#: How often it is copied beside those who write, until at most so few pages are left to wait for.
PASSES, LITTLE = 3, 20


class WriteAheadLog:
    """`writing` is held by whoever writes; `db` is the connection that does it. Where the file system
    has no write-ahead log, every commit waits for the disk and there is nothing to do here."""

    def __init__(self, path: Path, db: sqlite3.Connection, keeper: sqlite3.Connection) -> None:
        self.writing = threading.Lock()
        self.tidying = False
        self._keeper, self._path = keeper, path.with_name(path.name + "-wal")
        self.there = db.execute("pragma journal_mode").fetchone()[0] == "wal"
        db.execute(f"pragma synchronous = {'normal' if self.there else 'full'}")
        self._commits = 0
        self._handle = -1
        if self.there:
            self._make_room(db)
            self._handle = os.open(self._path, os.O_RDWR)

    def _make_room(self, db: sqlite3.Connection) -> None:
        """Write a transaction that is too large for the memory, and take it back: the log keeps its size."""
        if self._path.exists() and self._path.stat().st_size >= SIZE:
            return
        pages = int(db.execute("pragma cache_size").fetchone()[0])
        db.execute("pragma cache_size = 10")
        db.execute("begin immediate")
        with suppress(sqlite3.Error):  # a full disk: the first commit will say so
            db.execute("insert into meta values('room', zeroblob(?))", (SIZE,))
        if db.in_transaction:  # a full disk has ended it already
            db.execute("rollback")
        db.execute(f"pragma cache_size = {pages}")

    def committed(self) -> None:
        self._commits += 1

    def sync(self) -> None:
        """Wait until everything that was committed before survives a power failure."""
        if self._handle >= 0:
            getattr(os, "fdatasync", os.fsync)(self._handle)

    @property
    def full(self) -> bool:
        return self.there and self._commits >= COMMITS

    def tidy(self) -> None:
        """Copy the log into the database, mostly while others write; only for what they wrote meanwhile,
        which is little, they wait: a log that is written to is never empty and would only grow."""
        if not self.full:
            return
        self._commits = 0
        for _ in range(PASSES):
            if self._checkpoint() <= LITTLE:
                break
        self.tidying = True
        try:
            with self.writing:
                self._checkpoint()
        finally:
            self.tidying = False

    def fold(self) -> None:
        """Copy all of it into the database, before anybody writes."""
        if self.there:
            self._checkpoint()

    def _checkpoint(self) -> int:
        """How many pages of the log are left; others have written them meanwhile."""
        with suppress(sqlite3.Error):  # tried again next time; a commit will say what is wrong
            _, logged, copied = self._keeper.execute("pragma wal_checkpoint(passive)").fetchone()
            return int(logged) - int(copied)
        return 0

    def close(self) -> None:
        self._keeper.close()
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1


def closed() -> JournalRefused:
    return JournalRefused("closed", "The journal is closed: the engine is shutting down.")
