"""Reading the journal's SQLite file: from any thread, and no row that is not what was written."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from loop_ls.engine.journal.integrity import WAY_OUT, damaged
from loop_ls.engine.journal.refusal import JournalRefused
from loop_ls.engine.journal.serialization import key_of
from loop_ls.engine.journal.storage import Row, RunRow
from loop_ls.engine.journal.sums import sum_of_entry, sum_of_fact, sum_of_run, sum_of_text
from loop_ls.engine.journal.wal import closed

FACTS = "select position, run.id, seq, kind, at, body, run.number, fact.sum from fact join run on run.number = fact.run"
RUN = "select number, id, facts, answers, writes, sum, snapshot from run"


@dataclass(slots=True)
class RunCounts:
    """What the row of a run says, as it is written now."""

    number: int
    run: str
    facts: int
    answers: int
    writes: int
    snapshot: int

    @classmethod
    def of(cls, row: Sequence[Any]) -> RunCounts:
        """From a row of `RUN`."""
        return cls(row[0], str(row[1]), row[2], row[3], row[4], sum_of_text(row[6]))

    @property
    def sum(self) -> int:
        return sum_of_run(self.number, self.run, (self.facts, self.answers, self.writes), self.snapshot)


class SqliteReading:
    """The reading half of a `Storage`, over a connection that any thread may use."""

    def __init__(self, reader: sqlite3.Connection) -> None:
        self._reading = threading.Lock()
        self._reader = reader
        self._closed = False

    def facts(self, run: str, after: int, limit: int) -> list[Row]:
        known = self._row(run)
        rows = self._all(f"{FACTS} where run.id = ? and seq > ? order by seq limit ?", (run, after, limit))
        if known is None:
            return []
        last = rows[-1][2] if rows else after
        if not all(map(_sound, rows)):
            raise damaged(f"events of run {run} were changed after they were written")
        if [row[2] for row in rows] != [*range(after + 1, last + 1)] or (len(rows) < limit and last < known.facts):
            raise damaged(f"events of run {run} are missing")
        return [Row(*row[:6]) for row in rows]

    def iterations(self, run: str, number: int | None, before: int | None, limit: int) -> list[int]:
        which = "" if number is None else "and json_extract(body, '$.iteration') = ?4"
        query = (
            "select seq from fact where run = (select number from run where id = ?1) and kind = 'iteration_started'"
            f" and (?2 is null or seq < ?2) {which} order by seq desc limit ?3"
        )
        values = (run, before, limit) if number is None else (run, before, limit, number)
        return [row[0] for row in self._all(query, values)]

    def since(self, position: int, limit: int) -> list[Row]:
        """Without those that are not what was written: their run says so when it is looked at."""
        rows = self._all(f"{FACTS} where position > ? order by position limit ?", (position, limit))
        return [Row(*row[:6]) for row in rows if _sound(row)]

    def newest(self, kinds: Sequence[str], position: int, limit: int) -> list[Row]:
        """Without those that are not what was written, as `since`."""
        which = f"kind in ({', '.join('?' * len(kinds))}) and position > ?"
        rows = self._all(f"{FACTS} where {which} order by position desc limit ?", (*kinds, position, limit))
        return [Row(*row[:6]) for row in rows if _sound(row)]

    def _row(self, run: str) -> RunCounts | None:
        """Raises `JournalRefused` for one that is not what was written."""
        found = self._all(f"{RUN} where id = ?", (run,))
        if not found:
            return None
        row = RunCounts.of(found[0])
        if row.sum != found[0][5]:
            raise damaged(f"the row of run {run} was changed after it was written")
        return row

    def position(self) -> int:
        return int(self._all("select coalesce(max(position), 0) from fact")[0][0])

    def keys(self, run: str) -> tuple[set[str], list[str]]:
        found = self.answers(run)
        begun = sorted(key for key, value in found.items() if value is None)
        return {key for key, value in found.items() if value is not None}, begun

    def answers(self, run: str) -> dict[str, str | None]:
        known = self._row(run)
        if known is None:
            return {}
        rows = self._all("select key, value, sum from entry where run = ?", (known.number,))
        answered = sum(value is not None for _, value, _ in rows)
        sound = all(sum_of_entry(known.number, key, value) == told for key, value, told in rows)
        if not sound or answered < known.answers:
            raise damaged(f"answers of run {run} were changed after they were written")
        return {key: value for key, value, _ in rows}

    def value(self, run: str, key: str) -> str | None:
        query = (
            "select number, value, entry.sum from entry join run on run.number = entry.run where run.id = ? and key = ?"
        )
        found = self._all(query, (run, key))
        if found and sum_of_entry(found[0][0], key, found[0][1]) != found[0][2]:
            raise damaged(f"an answer of run {run} was changed after it was written")
        return found[0][1] if found else None

    def text(self, name: str) -> str:
        found = self._all("select body from text where hash = ?", (key_of(name),))
        return str(found[0][0]) if found else ""

    def runs(self, before: int | None, limit: int) -> list[RunRow]:
        rows = self._all(f"{RUN} where ?1 is null or number < ?1 order by number desc limit ?2", (before, limit))
        found = []
        for row in rows:
            sound = RunCounts.of(row).sum == row[5]
            found.append(RunRow(row[0], str(row[1]), row[6] if sound else None, not sound))
        return found

    def unfinished(self) -> list[str]:
        return [row[0] for row in self._all("select id from run where snapshot is null order by number")]

    def matching(self, prefix: str, limit: int) -> list[str]:
        """`glob` needs no escape here: ids are letters and digits, others match nothing."""
        if not prefix.isalnum():
            return []
        return [row[0] for row in self._all("select id from run where id glob ? limit ?", (f"{prefix}*", limit))]

    def snapshot(self, run: str) -> str | None:
        if self._row(run) is None:
            return None
        found = self._all("select snapshot from run where id = ?", (run,))
        return found[0][0] if found else None

    def _all(self, query: str, values: Sequence[Any] = ()) -> list[Any]:
        with self._reading, refusing():
            if self._closed:
                raise closed()
            return self._reader.execute(query, values).fetchall()


def _sound(row: Sequence[Any]) -> bool:
    """Whether a row of `FACTS` is what was written."""
    _, _, seq, kind, at, body, number, told = row
    try:
        return bool(sum_of_fact(number, seq, kind, at, body) == told)
    except (TypeError, ValueError, AttributeError):  # a column that holds another kind of value now
        return False


@contextmanager
def refusing() -> Iterator[None]:
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
        "Free some space; runs then continue where they were.",
    ),
    (
        ("readonly", "read-only", "permission denied", "unable to open"),
        "read_only",
        "The journal cannot be written: the data folder is not writable.",
        "Make it writable, and runs continue. Or choose another one with `engine.dataDir`.",
    ),
    (
        ("malformed", "not a database", "corrupt", "could not decode"),
        "damaged",
        "The journal is damaged: SQLite cannot read it.",
        WAY_OUT,
    ),
    (
        ("locked", "busy"),
        "busy",
        "The journal is in use by another program.",
        "Close the program that has journal.db open.",
    ),
)


def refusal(error: Exception) -> JournalRefused:
    """Which refusal an error is."""
    said = str(error).lower()
    for words, code, message, hint in REFUSALS:
        if any(word in said for word in words):
            return JournalRefused(code, message, hint)
    return JournalRefused("io", f"The journal cannot be used: {error}.", "Check the disk of the data folder.")
