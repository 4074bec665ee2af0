"""Going on with a damaged journal, once a person has said so: what it holds becomes all there is.

Nothing is thrown away: every file is copied beside it first. Where the pages themselves contradict one another, rows
are read from both ends of each table as far as they can be, into a new file.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from datetime import UTC, datetime
from pathlib import Path

from loop_ls.engine.journal.integrity import FORGOTTEN, read_only, require_whole, totals
from loop_ls.engine.journal.mark import Mark, Totals, mark_of
from loop_ls.engine.journal.reading import RUN, RunCounts, SqliteReading, refusing
from loop_ls.engine.journal.refusal import JournalRefused
from loop_ls.engine.journal.schema import APPLICATION, prepare

#: table -> what its rows are ordered by.
TABLES = {"meta": "name", "run": "number", "entry": "run, key", "fact": "position", "text": "hash", "use": "hash, run"}
PARTS = ("", "-wal", "-shm", "-mark")


def problem(path: Path) -> JournalRefused | None:
    """Why the journal at `path` is not opened; None: it is whole, as far as is seen without reading each run."""
    try:
        with refusing():
            require_whole(path)
    except JournalRefused as refused:
        return refused
    return None


def damaged_runs(path: Path) -> dict[str, str]:
    """Runs of which something is not what was written, and what; those that can be listed."""
    found: dict[str, str] = {}
    with suppress(JournalRefused, sqlite3.Error, OSError), closing(read_only(path)) as db:
        reading = SqliteReading(db)
        before: int | None = None
        while rows := reading.runs(before, 1000):
            for row in rows:
                try:
                    _read(reading, row.run)
                except JournalRefused as refused:
                    found[row.run] = refused.message
            before = rows[-1].number
    return found


def _read(reading: SqliteReading, run: str) -> None:
    after, limit = 0, 1000
    while rows := reading.facts(run, after, limit):
        after = rows[-1].seq
    reading.keys(run)


def counted(path: Path) -> tuple[int, int]:
    """How many runs and facts can be read now."""
    with suppress(sqlite3.Error, OSError), closing(read_only(path)) as db:
        runs, facts = (db.execute(f"select count(*) from {table}").fetchone()[0] for table in ("run", "fact"))
        return int(runs), int(facts)
    return 0, 0


def copied(path: Path, now: datetime | None = None) -> Path:
    """A new folder beside the journal with all of its files. Raises `OSError`."""
    stamp = (now or datetime.now(UTC)).strftime("%Y%m%d-%H%M%S")
    number, folder = 1, path.with_name(f"damaged-{stamp}")
    while folder.exists():
        number, folder = number + 1, path.with_name(f"damaged-{stamp}-{number}")
    folder.mkdir(mode=0o700)
    for each in (path.with_name(path.name + part) for part in PARTS):
        if each.is_file():
            shutil.copy2(each, folder / each.name)
    return folder


def accept(path: Path) -> None:
    """What can be read is the journal from now on. Copy it first (`copied`). Raises `JournalRefused`."""
    with refusing():
        if not _sound(path):
            _salvage(path)
        there = Totals()
        if path.exists():
            with closing(sqlite3.connect(path)) as db:
                there = totals(db)
        mark_of(path).unlink(missing_ok=True)
        Mark(path, there).close(there)


def _sound(path: Path) -> bool:
    """Whether SQLite finds nothing wrong with it, and it is a journal."""
    with suppress(sqlite3.Error, OSError, JournalRefused), closing(read_only(path)) as db:
        ours = db.execute("pragma application_id").fetchone()[0] == APPLICATION
        if ours and db.execute("pragma integrity_check(1)").fetchone()[0] == "ok":
            totals(db)
            return True
    return False


def _salvage(path: Path) -> None:
    made = path.with_name(path.name + "-salvaged")
    made.unlink(missing_ok=True)
    with closing(sqlite3.connect(made, isolation_level=None)) as new:
        made.chmod(0o600)
        prepare(new)
        new.execute("begin")
        for table, order in TABLES.items():
            for row in _rows(path, table, order):
                with suppress(sqlite3.Error):
                    new.execute(f"insert or ignore into {table} values({', '.join('?' * len(row))})", row)
        _drop_unsound(new)
        new.execute("commit")
    for part in PARTS:
        path.with_name(path.name + part).unlink(missing_ok=True)
    made.replace(path)


def _rows(path: Path, table: str, order: str) -> Iterator[tuple[object, ...]]:
    """From the front until something is wrong, then from the back."""
    back = ", ".join(f"{name} desc" for name in order.split(", "))
    for way in (order, back):
        with suppress(sqlite3.Error, OSError), closing(read_only(path)) as db:
            db.text_factory = _readable
            yield from db.execute(f"select * from {table} order by {way}")
            return


def _readable(text: bytes) -> str:
    return text.decode("utf-8", "replace")


def _drop_unsound(db: sqlite3.Connection) -> None:
    """Rows of runs that are not listed any more are nobody's. A row of a run that is not what was written says what
    it says from now on; that it had ended is folded from its facts again."""
    for table in ("fact", "entry", "use"):
        db.execute(f"delete from {table} where run not in (select number from run)")
    for row in db.execute(RUN).fetchall():
        if RunCounts.of(row).sum != row[5]:
            facts, answers, writes = (count if isinstance(count, int) else 0 for count in row[2:5])
            made = RunCounts(row[0], str(row[1]), facts, answers, writes, 0)
            db.execute(
                "update run set facts = ?, answers = ?, writes = ?, snapshot = null, sum = ? where number = ?",
                (facts, answers, writes, made.sum, row[0]),
            )
    try:
        totals(db)
    except JournalRefused:
        db.execute("delete from meta where name = ?", (FORGOTTEN,))
