"""Whether the journal on the disk is all of it: less than there was must not pass for all there ever was.

Looks before anything is written, with a connection that can change nothing, so that what is damaged can still be
restored.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

from loop_ls.engine.journal.mark import Totals, Unreadable, mark_of, read_mark
from loop_ls.engine.journal.refusal import JournalRefused
from loop_ls.engine.journal.schema import APPLICATION, LAYOUT
from loop_ls.engine.journal.sums import sum_of_run

#: Size of the header of a log: one that has no more holds nothing.
_LOG_HEADER = 32
#: The pages of a journal of at most so many bytes are all looked at before it is opened.
LOOKED_THROUGH = 32_000_000
FORGOTTEN = "forgotten"
WAY_OUT = "Restore the data folder from a backup, or see what is lost and continue without it: loop-ls engine repair."


def require_whole(path: Path) -> None:
    """Raises `JournalRefused` (`damaged`) for a journal with less than was written. Changes nothing."""
    log = path.with_name(path.name + "-wal")
    try:
        marked = read_mark(path)
    except Unreadable:
        raise damaged(f"{mark_of(path).name}, the record of the journal's size, cannot be read") from None
    if not _size(path):
        if _size(log) > _LOG_HEADER:
            raise damaged(f"{log.name} exists, but {path.name} is missing")
        if marked is not None and marked.writes:
            raise damaged(f"{path.name} is missing, with all of its {_runs(marked.runs)}")
        return
    with closing(read_only(path)) as db:
        _require_pages(path, db)
        there = _counted(path, db, marked)
    if marked is not None and (there.runs < marked.runs or there.writes < marked.writes):
        raise damaged(_lost(log, marked, there))


def read_only(path: Path) -> sqlite3.Connection:
    """A connection that writes nothing, also when it is closed."""
    return sqlite3.connect(f"file:{quote(str(path.resolve()))}?mode=ro", uri=True, isolation_level=None, timeout=10)


def _counted(path: Path, db: sqlite3.Connection, marked: Totals | None) -> Totals:
    """What is there; as much as there must be where it says nothing of itself."""
    layout = int(db.execute("pragma user_version").fetchone()[0])
    ours = int(db.execute("pragma application_id").fetchone()[0]) == APPLICATION
    if marked is None and (not ours or layout != LAYOUT):
        return Totals()  # another program's, or of another version
    if marked is None:
        raise damaged(f"{mark_of(path).name} is missing, so it is unknown whether {path.name} is complete")
    if not marked.writes and (not ours or layout < LAYOUT):
        return marked  # it was about to be made
    if layout > LAYOUT:
        return marked
    if not ours or layout < LAYOUT:
        raise damaged(f"the header of {path.name} is invalid")
    return totals(db)


def totals(db: sqlite3.Connection) -> Totals:
    """What a journal has and has had. Raises `JournalRefused` where its list of runs is invalid."""
    runs, writes, ongoing = db.execute(
        "select count(*), coalesce(sum(writes), 0), coalesce(sum(snapshot is null), 0) from run not indexed"
    ).fetchone()
    rows = db.execute("select number, id, facts, answers, writes, sum from run where snapshot is null").fetchall()
    sound = all(sum_of_run(row[0], row[1], row[2:5], 0) == row[5] for row in rows)
    if len(rows) != ongoing or not sound:
        raise damaged("its list of runs is invalid")
    gone = forgotten(db)
    return Totals(runs + gone.runs, int(writes) + gone.writes)


def forgotten(db: sqlite3.Connection) -> Totals:
    """What was deleted. Raises `JournalRefused`."""
    found = db.execute("select value from meta where name = ?", (FORGOTTEN,)).fetchone()
    try:
        return Totals(*map(int, found[0].split())) if found else Totals()
    except (ValueError, TypeError, AttributeError):
        raise damaged("its count of deleted runs is invalid") from None


def _require_pages(path: Path, db: sqlite3.Connection) -> None:
    if _size(path) > LOOKED_THROUGH:
        return
    found = db.execute("pragma integrity_check(1)").fetchone()
    if found is not None and found[0] != "ok":
        raise damaged(f"the pages of {path.name} are inconsistent")


def _lost(log: Path, marked: Totals, there: Totals) -> str:
    runs, writes = marked.runs - there.runs, marked.writes - there.writes
    lost = f"{writes:,} of {marked.writes:,} entries are missing"
    lost += f", {_runs(runs)} among them" if runs > 0 else ""
    return lost if _size(log) > _LOG_HEADER else f"{lost} ({log.name} is missing, or this is an older copy)"


def _runs(number: int) -> str:
    return f"{number:,} run{'' if number == 1 else 's'}"


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0


def damaged(what: str, way_out: str = WAY_OUT) -> JournalRefused:
    return JournalRefused("damaged", f"The journal is damaged: {what}.", way_out)
