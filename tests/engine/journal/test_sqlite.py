"""The journal's database: keys count once, numbers have no gap, and it says no in words."""

from __future__ import annotations

import errno
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from loop_ls.engine.journal import Entry, JournalRefused, SqliteStorage
from loop_ls.engine.journal.schema import APPLICATION, LAYOUT, prepare
from loop_ls.engine.journal.wal import SIZE


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.db"


def facts(*kinds: str) -> list[tuple[str, str]]:
    return [(kind, "{}") for kind in kinds]


def test_facts_of_one_run_are_numbered_without_gap_and_all_facts_are_ordered(path: Path) -> None:
    storage = SqliteStorage(path)
    storage.write([Entry("a", "1", "1", facts("x", "y")), Entry("b", "1", "1", facts("x")), Entry("a", None, None)])
    storage.write([Entry("a", "2", None, facts("z"))])
    assert [(row.seq, row.kind) for row in storage.facts("a", 0, 10)] == [(1, "x"), (2, "y"), (3, "z")]
    assert [row.position for row in storage.since(0, 10)] == [1, 2, 3, 4]
    kinds = sorted({row.kind for row in storage.since(2, 10)})
    assert [row.position for row in storage.newest(kinds, 2, 1)] == [4]
    assert storage.newest(["nothing"], 0, 10) == []
    assert [row.seq for row in storage.facts("a", 1, 1)] == [2]
    assert storage.position() == 4


def test_a_key_is_answered_once_and_its_facts_are_written_once(path: Path) -> None:
    storage = SqliteStorage(path)
    first = storage.write([Entry("a", "k", '"one"', facts("x"))])
    second = storage.write([Entry("a", "k", '"two"', facts("x"))])
    assert [len(rows) for rows in first + second] == [1, 0]
    assert storage.value("a", "k") == '"one"'
    assert len(storage.facts("a", 0, 10)) == 1


def test_a_call_that_began_is_in_flight_until_its_answer(path: Path) -> None:
    storage = SqliteStorage(path)
    storage.write([Entry("a", "k", None, facts("step_started"))])
    assert storage.keys("a") == (set(), ["k"])
    storage.write([Entry("a", "k", None, facts("step_started"))])
    storage.write([Entry("a", "k", "1", facts("step_completed"))])
    assert storage.keys("a") == ({"k"}, [])
    assert [row.kind for row in storage.facts("a", 0, 10)] == ["step_started", "step_completed"]


def test_numbers_go_on_after_a_restart(path: Path) -> None:
    storage = SqliteStorage(path)
    storage.write([Entry("a", "1", "1", facts("x"))])
    storage.close()
    again = SqliteStorage(path)
    again.write([Entry("a", "2", "1", facts("y"))])
    assert [row.seq for row in again.facts("a", 0, 10)] == [1, 2]


def test_a_batch_that_fails_leaves_nothing_behind(path: Path) -> None:
    storage = SqliteStorage(path)
    bad = Entry("a", "2", "1", [("x", None)])  # type: ignore[list-item]
    with pytest.raises(JournalRefused):
        storage.write([Entry("a", "1", "1", facts("x")), bad])
    assert storage.facts("a", 0, 10) == []
    storage.write([Entry("a", "1", "1", facts("x"))])
    assert [row.seq for row in storage.facts("a", 0, 10)] == [1]


def test_a_text_is_stored_once(path: Path) -> None:
    storage = SqliteStorage(path)
    name = "00" * 16
    storage.write([Entry("a", "1", "1", texts={name: "long"}), Entry("b", "1", "1", texts={name: "long"})])
    assert storage.text(name) == "long"
    assert storage.text("11" * 16) == ""
    count = sqlite3.connect(path).execute("select count(*) from text").fetchone()[0]
    assert count == 1


def test_runs_are_listed_newest_first_and_found_by_the_beginning_of_their_id(path: Path) -> None:
    storage = SqliteStorage(path)
    storage.write([Entry(run, "1", "1", facts("x")) for run in ("abc1", "abd2", "xyz3")])
    assert [row.run for row in storage.runs(None, 2)] == ["xyz3", "abd2"]
    assert [row.run for row in storage.runs(storage.runs(None, 2)[-1].number, 5)] == ["abc1"]
    assert storage.matching("ab", 5) == ["abc1", "abd2"]
    assert storage.matching("*", 5) == []
    storage.write([Entry("abd2", snapshot="{}")])
    assert storage.unfinished() == ["abc1", "xyz3"]
    assert storage.snapshot("abd2") == "{}"


def test_a_journal_of_a_newer_format_is_refused_and_left_alone(path: Path) -> None:
    SqliteStorage(path).close()
    db = sqlite3.connect(path)
    db.execute(f"pragma user_version = {LAYOUT + 1}")
    db.close()
    with pytest.raises(JournalRefused) as refused:
        SqliteStorage(path)
    assert refused.value.code == "newer_format"
    assert str(LAYOUT + 1) in refused.value.message
    assert sqlite3.connect(path).execute("pragma user_version").fetchone()[0] == LAYOUT + 1


def test_a_foreign_database_is_refused(path: Path) -> None:
    db = sqlite3.connect(path)
    db.execute("create table photos(name)")
    db.commit()
    with pytest.raises(JournalRefused) as refused:
        SqliteStorage(path)
    assert refused.value.code == "not_a_journal"


def test_an_older_format_is_brought_up_to_date_step_by_step() -> None:
    db = sqlite3.connect(":memory:", isolation_level=None)
    db.execute("create table old(a)")
    db.execute(f"pragma application_id = {APPLICATION}")
    db.execute(f"pragma user_version = {LAYOUT - 1}")
    prepare(db, {LAYOUT - 1: lambda found: found.execute("create table made(a)") and None})
    assert db.execute("select count(*) from made").fetchone() == (0,)
    assert db.execute("pragma user_version").fetchone() == (LAYOUT,)


def test_a_journal_without_checksums_gets_them_and_keeps_what_it_holds(path: Path) -> None:
    storage = SqliteStorage(path)
    storage.write([Entry("a", "1", "1", facts("x", "y")), Entry("a", "2", None, facts("z")), Entry("b", "1", "1")])
    storage.write([Entry("b", snapshot="{}")])
    storage.close()
    with closing(sqlite3.connect(path)) as db:
        for table, columns in (("run", ("facts", "answers", "writes", "sum")), ("entry", ("sum",)), ("fact", ("sum",))):
            for column in columns:
                db.execute(f"alter table {table} drop column {column}")
        db.execute("pragma user_version = 1")
    path.with_name("journal.db-mark").unlink()
    for _ in range(2):
        storage = SqliteStorage(path)
        assert [row.kind for row in storage.facts("a", 0, 10)] == ["x", "y", "z"]
        assert (storage.answers("a"), storage.snapshot("b")) == ({"1": "1", "2": None}, "{}")
        storage.close()


def test_a_damaged_file_is_refused(path: Path) -> None:
    path.write_bytes(b"this is no database, but long enough to look like one" * 100)
    with pytest.raises(JournalRefused) as refused:
        SqliteStorage(path)
    assert refused.value.code == "damaged"
    assert refused.value.hint


def test_a_full_disk_is_refused_and_what_was_written_stays(path: Path) -> None:
    storage = SqliteStorage(path)
    storage.write([Entry("a", "1", "1", facts("x"))])
    storage._writer.execute(f"pragma max_page_count = {storage._writer.execute('pragma page_count').fetchone()[0]}")
    with pytest.raises(JournalRefused) as refused:
        storage.write([Entry("a", "2", "1", [("y", "z" * 100_000)])])
    assert refused.value.code == "disk_full"
    assert [row.kind for row in storage.facts("a", 0, 10)] == ["x"]


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(JournalRefused):
        SqliteStorage(tmp_path / "none" / "journal.db")


def test_the_file_is_for_its_owner_alone(path: Path) -> None:
    SqliteStorage(path)
    assert path.stat().st_mode & 0o077 == 0


def test_the_write_ahead_log_does_not_grow_without_end(path: Path) -> None:
    storage = SqliteStorage(path)
    log = path.with_name("journal.db-wal")
    largest = 0
    for n in range(3000):
        storage.write([Entry("a", f"k{n}", '"x"', facts("x"))])
        storage.tidy()
        largest = max(largest, log.stat().st_size if n % 50 == 0 else 0)
    assert largest < 4_000_000


def test_texts_go_with_the_last_run_that_has_them(path: Path) -> None:
    storage = SqliteStorage(path)
    own, shared = "00" * 16, "11" * 16
    storage.write([Entry("a", "1", "1", facts("x"), {own: "only a", shared: "both"})])
    storage.write([Entry("b", "1", "1", facts("x"), {shared: "both"})])
    storage.write([Entry("a", forget=True)])
    assert (storage.text(own), storage.text(shared)) == ("", "both")
    assert storage.facts("a", 0, 10) == []
    assert storage.keys("a") == (set(), [])
    storage.write([Entry("b", forget=True)])
    assert storage.text(shared) == ""
    assert storage.runs(None, 10) == []


def test_a_commit_is_on_the_disk_after_the_next_sync(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    forced: list[str] = []
    monkeypatch.setattr("os.fdatasync", lambda handle: forced.append(os.readlink(f"/proc/self/fd/{handle}")))
    storage = SqliteStorage(path)
    storage.write([Entry("a", "1", "1", facts("x"))])
    assert forced == []
    storage.sync()
    assert forced == [str(path) + "-wal"]


def test_a_disk_that_cannot_be_forced_is_a_refusal(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    storage = SqliteStorage(path)

    def broken(handle: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr("os.fdatasync", broken)
    with pytest.raises(JournalRefused) as refused:
        storage.sync()
    assert refused.value.code == "io"


def test_the_log_has_its_size_from_the_start_and_the_database_nothing_of_it(path: Path) -> None:
    storage = SqliteStorage(path)
    assert path.with_name("journal.db-wal").stat().st_size >= SIZE
    storage.close()
    assert path.stat().st_size < 100_000
    assert SqliteStorage(path).position() == 0


def test_what_people_say_of_a_run_is_not_written_behind_its_end(path: Path) -> None:
    """The run ends in the moment in which somebody stops it: the last fact stays the last."""
    said = [Entry("a", None, None, facts("stopping"), ongoing=True), Entry("a", "asked", "1", facts("y"), ongoing=True)]
    storage = SqliteStorage(path)
    assert len(storage.write([Entry("a", ":end", None), said[0]])[1]) == 1  # it only began to end
    rows = storage.write([Entry("a", ":end", "1", facts("completed")), *said, Entry("a", None, None, facts("changed"))])
    assert [[row.kind for row in each] for each in rows] == [["completed"], [], [], ["changed"]]
    assert "asked" not in storage.keys("a")[0]
