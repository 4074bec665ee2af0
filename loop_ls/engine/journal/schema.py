"""Tables of the journal in SQLite, their version, and the steps from older versions to this one.

The version is that of the journal's meaning too: a run can be continued only by an engine that has it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

from loop_ls.engine.journal.refusal import JournalRefused

FORMAT = 1
#: Marks the file as ours ("LLJ" and a digit), so that a foreign database is never written to.
APPLICATION = 0x4C4C4A31

SCHEMA = """
create table if not exists meta(name text primary key, value text);
create table if not exists run(number integer primary key, id text not null unique, snapshot text);
create table if not exists entry(run integer not null, key text not null, value text,
                                 primary key(run, key)) without rowid;
create table if not exists fact(position integer primary key autoincrement, run integer not null,
                                seq integer not null, kind text not null, at real not null, body text not null);
create unique index if not exists fact_of_run on fact(run, seq);
create table if not exists text(hash blob primary key, body text not null);
create table if not exists use(hash blob not null, run integer not null, primary key(hash, run)) without rowid;
create index if not exists run_unfinished on run(number) where snapshot is null;
"""

#: version -> what brings a journal of that version to the next one.
MIGRATIONS: dict[int, Callable[[sqlite3.Connection], None]] = {}


def prepare(db: sqlite3.Connection, migrations: dict[int, Callable[[sqlite3.Connection], None]] = MIGRATIONS) -> None:
    """Make the tables, or bring an older journal up to date; refuse a newer or a foreign one."""
    db.execute("begin immediate")
    try:
        version = int(db.execute("pragma user_version").fetchone()[0])
        owner = int(db.execute("pragma application_id").fetchone()[0])
        tables = int(db.execute("select count(*) from sqlite_master").fetchone()[0])
        if tables and owner != APPLICATION:
            raise JournalRefused(
                "not_a_journal",
                "The file journal.db in the data folder is no journal of loop-ls.",
                "Move it away, or choose another data folder with `engine.dataDir`.",
            )
        if tables:
            _migrate(db, version, migrations)
        for statement in filter(str.strip, SCHEMA.split(";")):
            db.execute(statement)
        db.execute(f"pragma application_id = {APPLICATION}")
        db.execute(f"pragma user_version = {FORMAT}")
        db.execute("commit")
    except BaseException:
        if db.in_transaction:  # a full disk has ended it already
            db.execute("rollback")
        raise


def _migrate(db: sqlite3.Connection, version: int, migrations: dict[int, Callable[[sqlite3.Connection], None]]) -> None:
    if version > FORMAT:
        raise JournalRefused(
            "newer_format",
            f"The journal has format {version}; this loop-ls reads formats up to {FORMAT}.",
            "Use the newer loop-ls that wrote it, or choose another data folder with `engine.dataDir`.",
        )
    for step in range(version, FORMAT):
        if step not in migrations:
            raise JournalRefused(
                "not_a_journal",
                f"The journal has format {step}, which no step leads on from.",
                "Choose another data folder with `engine.dataDir`.",
            )
        migrations[step](db)
