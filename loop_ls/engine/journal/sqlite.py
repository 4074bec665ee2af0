"""The journal in one SQLite file: write-ahead log, and what was paid for on disk before it counts.

One connection writes, one reads, one keeps the log small. Errors become `JournalRefused`, and so does each row that is
not what was written (`sums`), and a journal that has less than there was (`integrity`).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from loop_ls.engine.journal.boot_id import boot_mark
from loop_ls.engine.journal.integrity import FORGOTTEN, forgotten, require_whole, totals
from loop_ls.engine.journal.mark import Mark, Totals
from loop_ls.engine.journal.reading import RUN, RunCounts, SqliteReading, refusing
from loop_ls.engine.journal.refusal import JournalRefused
from loop_ls.engine.journal.schema import prepare
from loop_ls.engine.journal.storage import END, Entry, Row
from loop_ls.engine.journal.sums import sum_of_entry, sum_of_fact, sum_of_text
from loop_ls.engine.journal.wal import WriteAheadLog, closed

BEGIN = "insert or ignore into entry(run, key, sum) values(?, ?, ?)"
ANSWER = (
    "insert into entry(run, key, value, sum) values(?, ?, ?, ?)"
    " on conflict(run, key) do update set value = excluded.value, sum = excluded.sum where value is null"
)


#: Small pages: a commit touches some ten of them, and what the disk has to write decides its time.
PRAGMAS = (
    *("page_size = 1024", "journal_mode = wal", "synchronous = normal", "wal_autocheckpoint = 0"),
    *("journal_size_limit = 2500000", "temp_store = memory"),
)
#: Texts of a run of which is known that they are stored: an answer and the facts that repeat it.
TEXTS = 64


class SqliteStorage(SqliteReading):
    """A `Storage` over `path`, made when it is not there."""

    shared = False

    def __init__(self, path: Path) -> None:
        self.path = path
        self._known: dict[str, RunCounts] = {}
        self._touched: dict[str, RunCounts] = {}
        self._stored: dict[tuple[int, str], None] = {}
        with refusing():
            _no_folders(path)
            require_whole(path)
            path.touch(0o600, exist_ok=True)
            self._writer = _open(path)
            if not self._writer.execute("pragma user_version").fetchone()[0]:
                Mark(path, Totals()).close(Totals())  # a journal without one is not whole
            prepare(self._writer)
            reader = _open(path)
            reader.execute("pragma query_only = on")
            super().__init__(reader)
            self.rebooted = self._boot()
            self._log = WriteAheadLog(path, self._writer, _open(path))
            self._log.fold()  # what a crash has left: from now on it is safe from whatever happens to the log
            self._there = totals(self._writer)
            self._gone = forgotten(self._writer)
            self._mark = Mark(path, self._there)
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
        with self._log.writing, refusing():
            if self._closed:
                raise closed()
            self._writer.execute("begin immediate")
            there, gone = self._there, self._gone
            try:
                added = [self._add(entry) for entry in batch]
                counted = self._count()
                self._writer.execute("commit")
            except BaseException:
                self._there, self._gone = there, gone
                self._known.clear()
                self._touched.clear()
                self._stored.clear()
                if self._writer.in_transaction:
                    self._writer.execute("rollback")
                raise
            self._log.committed()
            if counted:
                with suppress(OSError):  # it is written; a mark that counts less is one commit behind
                    self._mark.written(self._there)
        return added

    def sync(self) -> None:
        there = self._there
        with refusing():
            self._log.sync()
        self._mark.confirmed(there)

    @property
    def untidy(self) -> bool:
        return self._log.full

    def tidy(self) -> None:
        self._log.tidy()

    def refusing(self) -> JournalRefused | None:
        return None

    def leave(self) -> None:
        """A disk is never away."""

    def _add(self, entry: Entry) -> list[Row]:
        known = self._known.get(entry.run) or self._learn(entry.run)
        if entry.forget:
            return self._forget(known)
        if entry.ongoing and self._ended(known.number):
            return []
        if entry.key is not None and not self._enter(known, entry.key, entry.value):
            return []
        if entry.value is not None or entry.facts or entry.snapshot is not None:  # only to begin costs nothing yet
            self._touched[known.run] = known
        if entry.texts:
            self._keep(known.number, entry.texts)
        if entry.snapshot is not None:
            known.snapshot = sum_of_text(entry.snapshot)
            self._writer.execute("update run set snapshot = ? where number = ?", (entry.snapshot, known.number))
        return [self._append(entry, known, kind, body) for kind, body in entry.facts]

    def _count(self) -> bool:
        """The rows of the runs that were written to say what there is of them now. Whether there were some."""
        for one in self._touched.values():
            one.writes += 1
            counts = (one.facts, one.answers, one.writes, one.sum, one.number)
            self._writer.execute("update run set facts = ?, answers = ?, writes = ?, sum = ? where number = ?", counts)
        if not self._touched:
            return False
        self._there = Totals(self._there.runs, self._there.writes + len(self._touched))
        self._touched.clear()
        return True

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

    def _forget(self, known: RunCounts) -> list[Row]:
        """Texts go with the last run that has them."""
        self._stored.clear()
        for table, column in (("fact", "run"), ("entry", "run"), ("use", "run"), ("run", "number")):
            self._writer.execute(f"delete from {table} where {column} = ?", (known.number,))
        self._writer.execute("delete from text where not exists (select 1 from use where use.hash = text.hash)")
        self._gone = Totals(self._gone.runs + 1, self._gone.writes + known.writes)
        counts = f"{self._gone.runs} {self._gone.writes}"
        self._writer.execute("insert or replace into meta values(?, ?)", (FORGOTTEN, counts))
        self._known.pop(known.run, None)
        self._touched.pop(known.run, None)
        return []

    def _enter(self, known: RunCounts, key: str, value: str | None) -> bool:
        """Whether the key is new, or its answer."""
        made = sum_of_entry(known.number, key, value)
        if value is None:
            told = (known.number, key, made)
            return self._writer.execute(BEGIN, told).rowcount == 1
        if self._writer.execute(ANSWER, (known.number, key, value, made)).rowcount != 1:
            return False
        known.answers += 1
        return True

    def _ended(self, run: int) -> bool:
        query = "select 1 from entry where run = ? and key = ? and value is not null"
        return self._writer.execute(query, (run, END)).fetchone() is not None

    def _append(self, entry: Entry, known: RunCounts, kind: str, body: str) -> Row:
        known.facts += 1
        at = float(entry.at)
        made = sum_of_fact(known.number, known.facts, kind, at, body)
        done = self._writer.execute(
            "insert into fact(run, seq, kind, at, body, sum) values(?, ?, ?, ?, ?, ?)",
            (known.number, known.facts, kind, at, body, made),
        )
        return Row(done.lastrowid or 0, entry.run, known.facts, kind, at, body)

    def _learn(self, run: str) -> RunCounts:
        made = self._writer.execute("insert or ignore into run(id) values(?)", (run,))
        row = self._writer.execute(f"{RUN} where id = ?", (run,)).fetchone()
        if made.rowcount == 1:
            self._there = self._there._replace(runs=self._there.runs + 1)
            self._touched[run] = found = RunCounts(row[0], run, 0, 0, 0, 0)
        else:
            found = RunCounts.of(row)
        self._known[run] = found
        return found

    def close(self) -> None:
        with self._log.writing, self._reading:
            if self._closed:
                return
            self._closed = True
            self._log.close()
            self._reader.close()
            self._writer.close()
            with suppress(OSError):
                self._mark.close(self._there)


def _no_folders(path: Path) -> None:
    """Where a folder has the name of one of our files, SQLite only says that it cannot be opened."""
    for each in (path, *(path.with_name(f"{path.name}-{suffix}") for suffix in ("wal", "shm", "mark"))):
        if each.exists() and not each.is_file():
            raise JournalRefused(
                "not_a_journal",
                f"{each.name} in the data folder {each.parent} is {'a folder' if each.is_dir() else 'not a file'},"
                " but the journal needs a file there.",
                "Move it away, or choose another data folder with `engine.dataDir`.",
            )


def _open(path: Path) -> sqlite3.Connection:
    db = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=10)
    for pragma in PRAGMAS:
        db.execute(f"pragma {pragma}")
    return db
