"""The journal in PostgreSQL, for several processes at once: every batch is fenced, numbered and announced.

A process writes for a run only while its claim on it holds: one that lost its lease is refused.
Errors become `JournalRefused`; a database that is away for a moment is waited for.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from loop_ls.engine.journal.integrity import damaged
from loop_ls.engine.journal.mark import Mark, Totals, Unreadable, mark_of, read_mark
from loop_ls.engine.journal.postgres_connection import PostgresConnection, unreachable
from loop_ls.engine.journal.postgres_schema import NEWER, NOT_OWNER, newer, prepare
from loop_ls.engine.journal.refusal import JournalRefused
from loop_ls.engine.journal.schema import FORMAT
from loop_ls.engine.journal.serialization import key_of
from loop_ls.engine.journal.storage import Entry, Row, RunRow
from loop_ls.extras import is_installed, missing

T = TypeVar("T")
FACTS = (
    "select f.position, r.id, f.seq, f.kind, f.at, f.body from loop_ls.fact f join loop_ls.run r on r.number = f.run"
)
#: With how many there have to be, also where none is left.
FACTS_OF_RUN = (
    "select r.last_seq, f.position, r.id, f.seq, f.kind, f.at, f.body from loop_ls.run r"
    " left join loop_ls.fact f on f.run = r.number and f.seq > %s where r.id = %s order by f.seq limit %s"
)
#: What a person can do about rows that are missing: nothing of them is here.
RESTORE = (
    "Restore the database from a complete backup. To continue without them, remove the file database-*-mark from"
    " the data folder."
)
#: Seconds that a question of a person waits for a database that is away; facts of runs wait on.
PATIENCE = 5.0
FOR_EVER = 1e9
#: Long texts kept in memory, so that facts of other processes cost no further question.
TEXTS = 2000
#: Longer ones are read when they are needed.
LONG = 20_000


class PostgresStorage:
    """A `Storage` for `url`."""

    rebooted = False
    prompt = False
    shared = True

    def __init__(self, url: str, folder: Path | None = None) -> None:
        """`folder`: where it is kept how far this database was seen, so that less is noticed."""
        _require_packages()
        self.url = url
        self._leaving = threading.Event()
        self._texts: dict[str, str] = {}
        self._away: float | None = None
        identity, position = PostgresConnection(url, limit=30.0).ask(_prepared)
        self._mark = None if folder is None else _marked(folder / f"database-{identity}", position)
        self._writer, self._reader = PostgresConnection(url, limit=10.0), PostgresConnection(url)

    # -- writing ---------------------------------------------------------------------------------

    def write(self, batch: Sequence[Entry]) -> list[list[Row]]:
        """Facts of runs wait for a database that is away, what people ask for does not."""
        patience = FOR_EVER if all(entry.owned for entry in batch) else PATIENCE
        again = False
        began = time.monotonic()
        while True:
            try:
                rows = self._writer.ask(lambda db: _written(db, batch, again))  # noqa: B023
                self._away = None
                break
            except JournalRefused as refused:
                if refused.code != "unreachable":
                    raise ours(refused) from refused.__cause__
                self._away = self._away or time.monotonic()
                if self._leaving.is_set() or time.monotonic() - min(began, self._away) > patience:
                    raise
                again = True
                self._leaving.wait(0.25)
        if any(entry.forget for entry in batch):
            self._texts = {}
        added: list[list[Row]] = [[] for _ in batch]
        for number, seq, position in rows:
            entry, found = batch[number - 1], added[number - 1]
            kind, body = entry.facts[len(found)]
            found.append(Row(position, entry.run, seq, kind, entry.at, body))
        if self._mark is not None and rows:
            with suppress(OSError):  # it is written; a mark that counts less is one commit behind
                self._mark.confirmed(seen := Totals(writes=max(position for _, _, position in rows)))
                self._mark.written(seen)
        return added

    def refusing(self) -> JournalRefused | None:
        """What people ask for is refused at once while the database is away."""
        gone = self._away
        return unreachable(self.url) if gone is not None and time.monotonic() - gone > PATIENCE else None

    def sync(self) -> None:
        """A commit of PostgreSQL is on its disk."""

    @property
    def untidy(self) -> bool:
        return False

    def tidy(self) -> None:
        """The server does it."""

    def leave(self) -> None:
        self._leaving.set()

    # -- reading: any thread ---------------------------------------------------------------------

    def facts(self, run: str, after: int, limit: int) -> list[Row]:
        found = self._all(FACTS_OF_RUN, (after, run, limit))
        rows = [Row(*row[1:]) for row in found if row[1] is not None]
        last = rows[-1].seq if rows else after
        if [row.seq for row in rows] != [*range(after + 1, last + 1)] or (
            found and len(rows) < limit and last < found[0][0]
        ):
            raise damaged(f"events of run {run} are missing", RESTORE)
        return rows

    def iterations(self, run: str, number: int | None, before: int | None, limit: int) -> list[int]:
        which = "" if number is None else f'"iteration":{number}[,}}]'
        query = (
            "select f.seq from loop_ls.fact f join loop_ls.run r on r.number = f.run where r.id = %s"
            " and f.kind = 'iteration_started' and (%s::bigint is null or f.seq < %s) and f.body ~ %s"
            " order by f.seq desc limit %s"
        )
        return [row[0] for row in self._all(query, (run, before, before, which, limit))]

    def since(self, position: int, limit: int) -> list[Row]:
        found = self._all(f"{FACTS} where f.position > %s order by f.position limit %s", (position, limit))
        return [Row(*row) for row in found]

    def newest(self, kinds: Sequence[str], position: int, limit: int) -> list[Row]:
        which = "f.kind = any(%s) and f.position > %s"
        found = self._all(f"{FACTS} where {which} order by f.position desc limit %s", (list(kinds), position, limit))
        return [Row(*row) for row in found]

    def position(self) -> int:
        return int(self._all("select position from loop_ls.head")[0][0])

    def keys(self, run: str) -> tuple[set[str], list[str]]:
        found = self._entries(run, "left(e.value, 1)")
        return {key for key, value in found if value is not None}, [key for key, value in found if value is None]

    def answers(self, run: str) -> dict[str, str | None]:
        """With the texts of the run, so that what is read next needs no question for each."""
        texts = self._all(
            "select encode(t.hash, 'hex'), t.body from loop_ls.long_text t join loop_ls.uses u on u.hash = t.hash"
            " join loop_ls.run r on r.number = u.run where r.id = %s and length(t.body) < %s",
            (run, LONG),
        )
        if len(self._texts) + len(texts) > TEXTS:
            self._texts = {}
        self._texts.update(texts)
        return dict(self._entries(run, "e.value"))

    def _entries(self, run: str, value: str) -> list[tuple[str, str | None]]:
        """Keys of a run, with what `value` gives of each. Raises `JournalRefused` where answers are missing."""
        query = (
            f"select r.answers, e.value is not null, e.key, {value} from loop_ls.run r"
            " left join loop_ls.entry e on e.run = r.number where r.id = %s order by e.key"
        )
        found = self._all(query, (run,))
        if found and sum(bool(row[1]) for row in found) < (found[0][0] or 0):
            raise damaged(f"answers of run {run} are missing", RESTORE)
        return [(row[2], row[3]) for row in found if row[2] is not None]

    def value(self, run: str, key: str) -> str | None:
        found = self._all(
            "select value from loop_ls.entry e join loop_ls.run r on r.number = e.run where r.id = %s and key = %s",
            (run, key),
        )
        return found[0][0] if found else None

    def text(self, name: str) -> str:
        known = self._texts.get(name)
        if known is not None:
            return known
        found = self._all("select body from loop_ls.long_text where hash = %s", (key_of(name),))
        text = str(found[0][0]) if found else ""
        if len(self._texts) >= TEXTS:
            self._texts = {}
        if text and len(text) < LONG:
            self._texts[name] = text
        return text

    def runs(self, before: int | None, limit: int) -> list[RunRow]:
        found = self._all(
            "select number, id, snapshot from loop_ls.run where %s::bigint is null or number < %s"
            " order by number desc limit %s",
            (before, before, limit),
        )
        return [RunRow(*row) for row in found]

    def unfinished(self) -> list[str]:
        found = self._all("select id from loop_ls.run where snapshot is null and last_seq > 0 order by number")
        return [row[0] for row in found]

    def matching(self, prefix: str, limit: int) -> list[str]:
        if not prefix.isalnum():
            return []
        found = self._all("select id from loop_ls.run where id like %s limit %s", (f"{prefix}%", limit))
        return [row[0] for row in found]

    def snapshot(self, run: str) -> str | None:
        found = self._all("select snapshot from loop_ls.run where id = %s", (run,))
        return found[0][0] if found else None

    def close(self) -> None:
        self._leaving.set()
        self._writer.close()
        self._reader.close()
        if self._mark is not None:
            self._mark.let_go()
            self._mark = None

    def _all(self, query: str, values: Sequence[Any] = ()) -> list[Any]:
        return self._reader.ask(
            lambda db: db.execute(query, values).fetchall(), 0 if self._leaving.is_set() else PATIENCE
        )


def _require_packages() -> None:
    for package in ("dbos", "psycopg"):
        if not is_installed(package):
            raise JournalRefused("no_driver", missing("Sharing runs in PostgreSQL", package))


def _marked(path: Path, position: int) -> Mark:
    """The mark beside the journal in a database. Raises `JournalRefused` where there is less than was seen of it."""
    name = mark_of(path).name
    try:
        seen = read_mark(path)
        if seen is not None and seen.writes > position:
            missing_facts = f"{seen.writes - position:,} of {seen.writes:,} known events are missing"
            raise damaged(f"{missing_facts} in the database (this is an older copy)", f"{RESTORE} ({name})")
        return Mark(path, Totals(writes=position))
    except Unreadable:
        raise damaged(f"{name}, which records the known state of the database, cannot be read", RESTORE) from None
    except OSError as error:
        raise JournalRefused("read_only", f"{name} cannot be written in the data folder: {error}.") from None


def _prepared(db: Any) -> tuple[str, int]:
    """Which database it is, and how many facts it has had."""
    prepare(db)
    query = "select value, (select position from loop_ls.head) from loop_ls.meta where name = 'identity'"
    identity, position = db.execute(query).fetchone()
    return str(identity), int(position)


def _written(db: Any, batch: Sequence[Entry], again: bool) -> list[tuple[int, int, int]]:
    found = db.execute(
        "select ord, seq, pos from loop_ls.write(%s::jsonb, %s) order by pos",
        (json.dumps([_told(entry, again) for entry in batch], ensure_ascii=False), FORMAT),
        prepare=True,
    )
    return list(found.fetchall())


def _told(entry: Entry, again: bool) -> dict[str, object]:
    """A member that says nothing is left out, as a flag that is not set."""
    told = {name: getattr(entry, name) for name in Entry.__slots__} | {"again": again}
    return {name: given for name, given in told.items() if given is not None and given is not False and given != ""}


def ours(refused: JournalRefused) -> JournalRefused:
    """The refusals of our own functions in the words of the journal."""
    state, said = getattr(refused.__cause__, "sqlstate", None), str(refused.__cause__)
    if state == NOT_OWNER:
        return JournalRefused("not_owner", "Another worker has taken over this run.", "It continues there.")
    if state == NEWER:
        return newer(said.splitlines()[0].removeprefix("format "))
    return refused
