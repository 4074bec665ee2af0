"""The journal in one SQLite file: write-ahead log, and what was paid for on disk before it counts.

One connection writes, one reads, one keeps the log small. Errors become `JournalRefused`.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from loop_ls.engine.journal.boot_id import boot_mark
from loop_ls.engine.journal.integrity import Whole
from loop_ls.engine.journal.refusal import JournalRefused
from loop_ls.engine.journal.schema import prepare
from loop_ls.engine.journal.serialization import key_of
from loop_ls.engine.journal.storage import END, Entry, Row, RunRow
from loop_ls.engine.journal.wal import WriteAheadLog, closed

FACTS = "select position, run.id, seq, kind, at, body from fact join run on run.number = fact.run"
ANSWER = (
    "insert into entry(run, key, value) values(?, ?, ?)"
    " on conflict(run, key) do update set value = excluded.value where value is null"
)


#: Small pages: a commit touches some ten of them, and what the disk has to write decides its time.
PRAGMAS = (
    *("page_size = 1024", "journal_mode = wal", "synchronous = normal", "wal_autocheckpoint = 0"),
    *("journal_size_limit = 2500000", "temp_store = memory"),
)
#: Texts of a run of which is known that they are stored: an answer and the facts that repeat it.
TEXTS = 64


class SqliteStorage:
    """A `Storage` over `path`, made when it is not there."""

    shared = False

    def __init__(self, path: Path) -> None:
        self.path = path
        self._reading = threading.Lock()
        self._known: dict[str, list[int]] = {}
        self._stored: dict[tuple[int, str], None] = {}
        self._closed = False
        self._whole = Whole(path)
        with _refusing():
            _no_folders(path)
            self._whole.check()
            path.touch(0o600, exist_ok=True)
            self._writer = _open(path)
            prepare(self._writer)
            self._reader = _open(path)
            self._reader.execute("pragma query_only = on")
            self.rebooted = self._boot()
            self._log = WriteAheadLog(path, self._writer, _open(path))
            if self._log.there:
                self._whole.mark()
            # From now on it is written on the loop, which waits for nobody.
            self._writer.execute("pragma busy_timeout = 0")

    def _boot(self) -> bool:
        known = self._writer.execute("select value from meta where name = 'boot'").fetchone()
        now = boot_mark()
        self._writer.execute("insert or replace into meta values('boot', ?)", (now,))
        return known is not None and known[0] != now

    # -- writing ---------------------------------------------------------------------------------

    @property
    def prompt(self) -> bool:
        return self._log.there and not self._log.tidying

    def write(self, batch: Sequence[Entry]) -> list[list[Row]]:
        with self._log.writing, _refusing():
            if self._closed:
                raise closed()
            self._writer.execute("begin immediate")
            try:
                added = [self._add(entry) for entry in batch]
                self._writer.execute("commit")
            except BaseException:
                self._known.clear()
                self._stored.clear()
                if self._writer.in_transaction:
                    self._writer.execute("rollback")
                raise
            self._log.committed()
        return added

    def sync(self) -> None:
        with _refusing():
            self._log.sync()

    @property
    def untidy(self) -> bool:
        return self._log.full

    def tidy(self) -> None:
        self._log.tidy()
        if self._log.there:
            with suppress(OSError):
                self._whole.mark()

    def refusing(self) -> JournalRefused | None:
        return None

    def leave(self) -> None:
        """A disk is never away."""

    def _add(self, entry: Entry) -> list[Row]:
        known = self._known.get(entry.run) or self._learn(entry.run)
        if entry.forget:
            return self._forget(entry.run, known[0])
        if entry.ongoing and self._ended(known[0]):
            return []
        if entry.key is not None and not self._mark(known[0], entry.key, entry.value):
            return []
        if entry.texts:
            self._keep(known[0], entry.texts)
        if entry.snapshot is not None:
            self._writer.execute("update run set snapshot = ? where number = ?", (entry.snapshot, known[0]))
            self._known.pop(entry.run, None)
        return [self._append(entry, known, kind, body) for kind, body in entry.facts]

    def _keep(self, run: int, texts: dict[str, str]) -> None:
        """Each text once, and which runs have it."""
        new = [name for name in texts if (run, name) not in self._stored]
        if not new:
            return
        self._writer.executemany(
            "insert or ignore into text(hash, body) values(?, ?)", [(bytes.fromhex(name), texts[name]) for name in new]
        )
        self._writer.executemany(
            "insert or ignore into use(hash, run) values(?, ?)", [(bytes.fromhex(name), run) for name in new]
        )
        if len(self._stored) > TEXTS:
            self._stored.clear()
        self._stored.update(((run, name), None) for name in new)

    def _forget(self, run: str, number: int) -> list[Row]:
        """Texts go with the last run that has them."""
        self._stored.clear()
        for table, column in (("fact", "run"), ("entry", "run"), ("use", "run"), ("run", "number")):
            self._writer.execute(f"delete from {table} where {column} = ?", (number,))
        self._writer.execute("delete from text where not exists (select 1 from use where use.hash = text.hash)")
        del self._known[run]
        return []

    def _mark(self, run: int, key: str, value: str | None) -> bool:
        if value is None:
            done = self._writer.execute("insert or ignore into entry(run, key) values(?, ?)", (run, key))
        else:
            done = self._writer.execute(ANSWER, (run, key, value))
        return done.rowcount == 1

    def _ended(self, run: int) -> bool:
        query = "select 1 from entry where run = ? and key = ? and value is not null"
        return self._writer.execute(query, (run, END)).fetchone() is not None

    def _append(self, entry: Entry, known: list[int], kind: str, body: str) -> Row:
        known[1] += 1
        done = self._writer.execute(
            "insert into fact(run, seq, kind, at, body) values(?, ?, ?, ?, ?)",
            (known[0], known[1], kind, entry.at, body),
        )
        return Row(done.lastrowid or 0, entry.run, known[1], kind, entry.at, body)

    def _learn(self, run: str) -> list[int]:
        self._writer.execute("insert or ignore into run(id) values(?)", (run,))
        number = self._writer.execute("select number from run where id = ?", (run,)).fetchone()[0]
        last = self._writer.execute("select coalesce(max(seq), 0) from fact where run = ?", (number,)).fetchone()[0]
        self._known[run] = [number, last]
        return self._known[run]

    # -- reading: any thread ---------------------------------------------------------------------

    def facts(self, run: str, after: int, limit: int) -> list[Row]:
        rows = self._all(f"{FACTS} where run.id = ? and seq > ? order by seq limit ?", (run, after, limit))
        return [Row(*row) for row in rows]

    def since(self, position: int, limit: int) -> list[Row]:
        rows = self._all(f"{FACTS} where position > ? order by position limit ?", (position, limit))
        return [Row(*row) for row in rows]

    def position(self) -> int:
        return int(self._all("select coalesce(max(position), 0) from fact")[0][0])

    def keys(self, run: str) -> tuple[set[str], list[str]]:
        rows = self._all(
            "select key, value is not null from entry join run on run.number = entry.run where run.id = ? order by key",
            (run,),
        )
        return {key for key, answered in rows if answered}, [key for key, answered in rows if not answered]

    def answers(self, run: str) -> dict[str, str | None]:
        query = "select key, value from entry join run on run.number = entry.run where run.id = ?"
        return dict(self._all(query, (run,)))

    def value(self, run: str, key: str) -> str | None:
        found = self._all(
            "select value from entry join run on run.number = entry.run where run.id = ? and key = ?", (run, key)
        )
        return found[0][0] if found else None

    def text(self, name: str) -> str:
        found = self._all("select body from text where hash = ?", (key_of(name),))
        return str(found[0][0]) if found else ""

    def runs(self, before: int | None, limit: int) -> list[RunRow]:
        rows = self._all(
            "select number, id, snapshot from run where ?1 is null or number < ?1 order by number desc limit ?2",
            (before, limit),
        )
        return [RunRow(*row) for row in rows]

    def unfinished(self) -> list[str]:
        return [row[0] for row in self._all("select id from run where snapshot is null order by number")]

    def matching(self, prefix: str, limit: int) -> list[str]:
        """`glob` needs no escape here: ids are letters and digits, others match nothing."""
        if not prefix.isalnum():
            return []
        return [row[0] for row in self._all("select id from run where id glob ? limit ?", (f"{prefix}*", limit))]

    def snapshot(self, run: str) -> str | None:
        found = self._all("select snapshot from run where id = ?", (run,))
        return found[0][0] if found else None

    def close(self) -> None:
        with self._log.writing, self._reading:
            self._closed = True
            self._log.close()
            self._reader.close()
            self._writer.close()
            with suppress(OSError):
                self._whole.end()

    def _all(self, query: str, values: Sequence[Any] = ()) -> list[Any]:
        with self._reading, _refusing():
            if self._closed:
                raise closed()
            return self._reader.execute(query, values).fetchall()


def _no_folders(path: Path) -> None:
    """Where a folder has the name of one of our files, SQLite only says that it cannot be opened."""
    for each in (path, *(path.with_name(f"{path.name}-{suffix}") for suffix in ("wal", "shm", "open"))):
        if each.exists() and not each.is_file():
            raise JournalRefused(
                "not_a_journal",
                f"{each.name} in the data folder {each.parent} is {'a folder' if each.is_dir() else 'no file'},"
                " where the journal's file has to be.",
                "Move it away, or choose another data folder with `engine.dataDir`.",
            )


def _open(path: Path) -> sqlite3.Connection:
    db = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=10)
    for pragma in PRAGMAS:
        db.execute(f"pragma {pragma}")
    return db


@contextmanager
def _refusing() -> Iterator[None]:
    """Turn an error of the database or the disk into a refusal that says what to do."""
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        raise refusal(error) from error


#: words of SQLite or the system -> the refusal they mean.
REFUSALS: tuple[tuple[tuple[str, ...], str, str, str], ...] = (
    (
        ("full", "no space"),
        "disk_full",
        "The journal cannot be written: the disk of the data folder is full.",
        "Free some space; runs go on where they were when the engine is started again.",
    ),
    (
        ("readonly", "read-only", "permission denied", "unable to open"),
        "read_only",
        "The journal cannot be written: the data folder is not writable.",
        "Make it writable, or choose another one with `engine.dataDir`.",
    ),
    (
        ("malformed", "not a database", "corrupt"),
        "damaged",
        "The journal is damaged: SQLite cannot read it.",
        "Move journal.db and journal.db-wal out of the data folder to start afresh, or restore copies of both.",
    ),
    (
        ("locked", "busy"),
        "busy",
        "The journal is in use by another program.",
        "Close the program that holds journal.db open.",
    ),
)


def refusal(error: Exception) -> JournalRefused:
    """Which refusal an error is."""
    said = str(error).lower()
    for words, code, message, hint in REFUSALS:
        if any(word in said for word in words):
            return JournalRefused(code, message, hint)
    return JournalRefused("io", f"The journal cannot be used: {error}.", "Check the disk of the data folder.")
