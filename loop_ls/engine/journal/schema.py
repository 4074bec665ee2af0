"""Tables of the journal in SQLite, their version, and the steps from older versions to this one.

`FORMAT` is the version of the journal's meaning: a run can be continued only by an engine that has it. A file has a
`LAYOUT` besides: what its tables hold of it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

from loop_ls.engine.journal.refusal import JournalRefused
from loop_ls.engine.journal.sums import sum_of_entry, sum_of_fact, sum_of_run, sum_of_text

FORMAT = 1
#: Tables of the file: 2 has checksums and counts.
LAYOUT = 2
#: Marks the file as ours ("LLJ" and a digit), so that a foreign database is never written to.
APPLICATION = 0x4C4C4A31

SCHEMA = """
create table if not exists meta(name text primary key, value text);
create table if not exists run(number integer primary key, id text not null unique, snapshot text,
                               facts integer, answers integer, writes integer, sum integer);
create table if not exists entry(run integer not null, key text not null, value text, sum integer,
                                 primary key(run, key)) without rowid;
create table if not exists fact(position integer primary key autoincrement, run integer not null,
                                seq integer not null, kind text not null, at real not null, body text not null,
                                sum integer);
create unique index if not exists fact_of_run on fact(run, seq);
create table if not exists text(hash blob primary key, body text not null);
create table if not exists use(hash blob not null, run integer not null, primary key(hash, run)) without rowid;
create index if not exists run_unfinished on run(number) where snapshot is null;
create index if not exists iteration_of_run on fact(run, json_extract(body, '$.iteration'), seq)
    where kind = 'iteration_started';
"""


def _add_sums(db: sqlite3.Connection) -> None:
    """What is there counts as whole: nothing else can be known of it."""
    for table, columns in (("run", ("facts", "answers", "writes", "sum")), ("entry", ("sum",)), ("fact", ("sum",))):
        for column in columns:
            db.execute(f"alter table {table} add column {column} integer")
    db.execute(
        "update run set writes = 0, facts = (select count(*) from fact where run = number),"
        " answers = (select count(value) from entry where run = number)"
    )
    db.create_function("sum_of_fact", 5, sum_of_fact, deterministic=True)
    db.create_function("sum_of_entry", 3, sum_of_entry, deterministic=True)
    db.execute("update fact set sum = sum_of_fact(run, seq, kind, at, body)")
    db.execute("update entry set sum = sum_of_entry(run, key, value)")
    rows = db.execute("select number, id, facts, answers, writes, snapshot from run").fetchall()
    for number, run, facts, answers, writes, snapshot in rows:
        made = sum_of_run(number, run, (facts, answers, writes), sum_of_text(snapshot))
        db.execute("update run set sum = ? where number = ?", (made, number))


#: layout -> what brings a journal of that layout to the next one.
MIGRATIONS: dict[int, Callable[[sqlite3.Connection], None]] = {1: _add_sums}


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
                "The file journal.db in the data folder is not a loop-ls journal.",
                "Move it away, or choose another data folder with `engine.dataDir`.",
            )
        if tables:
            _migrate(db, version, migrations)
        for statement in filter(str.strip, SCHEMA.split(";")):
            db.execute(statement)
        db.execute(f"pragma application_id = {APPLICATION}")
        db.execute(f"pragma user_version = {LAYOUT}")
        db.execute("commit")
    except BaseException:
        if db.in_transaction:  # a full disk has ended it already
            db.execute("rollback")
        raise


def _migrate(db: sqlite3.Connection, version: int, migrations: dict[int, Callable[[sqlite3.Connection], None]]) -> None:
    if version > LAYOUT:
        raise JournalRefused(
            "newer_format",
            f"The journal has format {version}; this version of loop-ls supports formats up to {LAYOUT}.",
            "Use the newer version of loop-ls that wrote it, or choose another data folder with `engine.dataDir`.",
        )
    for step in range(version, LAYOUT):
        if step not in migrations:
            raise JournalRefused(
                "not_a_journal",
                f"The journal has format {step}, which cannot be upgraded.",
                "Choose another data folder with `engine.dataDir`.",
            )
        migrations[step](db)
