"""Whatever happens to the files of a journal: all that was committed is there, or somebody is told.

The files are those of an engine that was killed, or that ended: part of them in the database, part in the log.
"""

from __future__ import annotations

import random
import shutil
import sqlite3
from collections import Counter
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from loop_ls.engine.journal import Entry, JournalRefused, SqliteStorage
from loop_ls.engine.journal.repair import accept, copied, problem
from loop_ls.text.hash import hash_of

SEEDS = 400
RUNS, FACTS = 4, 30
PARTS = ("journal.db", "journal.db-wal", "journal.db-mark", "journal.db-shm")


@dataclass
class CommittedRecords:
    """Folders with what an engine has left, and what it had committed: run -> facts, answers, state."""

    folders: dict[str, Path]
    runs: dict[str, tuple[Any, ...]]
    texts: dict[str, str]


def _write(storage: SqliteStorage, numbers: range, texts: dict[str, str]) -> None:
    for number in numbers:
        for run in range(RUNS):
            text = f"{run} {number} " * 40
            texts[hash_of(text)] = text
            key, facts = (
                f"develop/{number}:ask",
                [("iteration", f'{{"output":"{run} {number}"}}'), ("call", '{"usd":1}')],
            )
            storage.write([Entry(f"run{run}", key, None, [("step_started", "{}")])])
            storage.write(
                [Entry(f"run{run}", key, f'{{"value":"{run} {number}"}}', facts, {hash_of(text): text}, number)]
            )


def _read(storage: SqliteStorage, texts: dict[str, str]) -> dict[str, tuple[Any, ...]]:
    """As the engine does: an unfinished run is read whole before it is taken up. Raises `JournalRefused`."""
    found: dict[str, tuple[Any, ...]] = {}
    for row in storage.runs(None, 99):
        if row.damaged:
            raise JournalRefused("damaged", "its row")
        facts = storage.facts(row.run, 0, 9999)
        found[row.run] = (
            [(fact.seq, fact.kind, fact.at, fact.body) for fact in facts],
            storage.answers(row.run),
            row.snapshot,
            row.run in storage.unfinished(),
        )
    for name, text in texts.items():
        if storage.text(name) != text:
            raise JournalRefused("damaged", "a text")  # each reader compares the text with its name
    return found


@pytest.fixture(scope="module")
def truth(tmp_path_factory: pytest.TempPathFactory) -> CommittedRecords:
    folder, texts = tmp_path_factory.mktemp("truth"), dict[str, str]()
    names = ("older", "killed", "ended")
    folders = {name: folder / name for name in names}
    storage = SqliteStorage(folder / "journal.db")
    _write(storage, range(FACTS), texts)
    storage.write([Entry("gone", "k", "1", [("x", "{}")])])
    storage.write([Entry("gone", forget=True)])
    storage.close()
    _kept(folder, folders["older"])
    storage = SqliteStorage(folder / "journal.db")
    _write(storage, range(FACTS, FACTS + 10), texts)
    storage.write([Entry("run0", ":end", "true", [("completed", "{}")])])
    storage.write([Entry("run0", snapshot='{"status":"completed"}')])
    _kept(folder, folders["killed"])
    runs = _read(storage, texts)
    storage.close()
    _kept(folder, folders["ended"])
    return CommittedRecords(folders, runs, texts)


def _kept(folder: Path, there: Path) -> None:
    there.mkdir()
    for each in folder.glob("journal.db*"):
        shutil.copy2(each, there / each.name)


def _harm(folder: Path, chance: random.Random, older: Path) -> str:
    """Do one thing to one file, and say what."""
    there = [name for name in PARTS if (folder / name).exists()]
    path = folder / chance.choice([*there, *[name for name in there if "shm" not in name]])
    whole = bytearray(path.read_bytes())
    match chance.choice(("flip", "flip", "flip", "cut", "zeros", "zeros", "noise", "delete", "empty", "older", "all")):
        case "flip" if whole:
            at = chance.randrange(len(whole) if chance.random() < 0.7 else min(len(whole), 4096))
            whole[at] ^= 1 << chance.randrange(8)
            told = f"bit at {at}"
        case "cut":
            del whole[chance.randrange(len(whole) + 1) :]
            told = f"cut to {len(whole)}"
        case "zeros" | "noise" as how:
            at = chance.randrange(len(whole) + 1)
            size = min(chance.choice((1, 16, 1024, 100_000)), len(whole) - at)
            whole[at : at + size] = bytes(size) if how == "zeros" else chance.randbytes(size)
            told = f"{how} {at}+{size}"
        case "older" if (older / path.name).exists():
            whole, told = bytearray((older / path.name).read_bytes()), "older copy"
        case "all":
            for name in ("journal.db", "journal.db-wal", "journal.db-shm"):
                (folder / name).unlink(missing_ok=True)
            return "journal.db, log and index deleted"
        case "delete":
            path.unlink()
            return f"{path.name} deleted"
        case _:
            whole, told = bytearray(), "emptied"
    path.write_bytes(whole)
    return f"{path.name}: {told}"


def _outcome(folder: Path, truth: CommittedRecords) -> str:
    """`harmless`, `told`, or what nobody was told of."""
    try:
        storage = SqliteStorage(folder / "journal.db")
    except JournalRefused as refused:
        return "told" if refused.code in ("damaged", "not_a_journal", "newer_format") else f"as {refused.code}"
    try:
        return "harmless" if _read(storage, truth.texts) == truth.runs else "silent"
    except JournalRefused as refused:
        return "told" if refused.code == "damaged" else f"as {refused.code}"
    finally:
        storage.close()


@pytest.mark.parametrize("left", ["killed", "ended"])
def test_random_damage_is_harmless_or_told(truth: CommittedRecords, tmp_path: Path, left: str) -> None:
    outcomes: Counter[str] = Counter()
    wrong = []
    for seed in range(SEEDS // 2):
        folder = tmp_path / str(seed)
        shutil.copytree(truth.folders[left], folder)
        harm = _harm(folder, random.Random(f"{left} {seed}"), truth.folders["older"])
        outcome = _outcome(folder, truth)
        outcomes[outcome] += 1
        if outcome not in ("harmless", "told"):
            wrong.append((seed, harm, outcome))
        shutil.rmtree(folder)
    assert not wrong, outcomes
    assert outcomes["told"] > SEEDS / 8
    assert outcomes["harmless"] > SEEDS / 40


@pytest.mark.parametrize("left", ["killed", "ended"])
@pytest.mark.parametrize(
    ("table", "row"),
    [("fact", "position"), ("entry", "run || ' ' || key"), ("run", "number"), ("text", "hash"), ("meta", "name")],
)
def test_a_row_that_somebody_deletes_is_told_of(
    truth: CommittedRecords, tmp_path: Path, left: str, table: str, row: str
) -> None:
    whole = tmp_path / "whole"
    shutil.copytree(truth.folders[left], whole)
    with closing(sqlite3.connect(whole / "journal.db")) as db:
        rows = [one for (one,) in db.execute(f"select {row} from {table} where {row} is not 'boot' order by 1")]
    assert rows
    for number, one in enumerate(rows[:: max(1, len(rows) // 5)]):
        folder = tmp_path / str(number)
        shutil.copytree(truth.folders[left], folder)
        with closing(sqlite3.connect(folder / "journal.db")) as db:
            assert db.execute(f"delete from {table} where {row} = ?", (one,)).rowcount == 1
            db.commit()
        assert _outcome(folder, truth) == "told", one
        shutil.rmtree(folder)


@pytest.mark.parametrize("left", ["killed", "ended"])
def test_a_damaged_journal_that_was_accepted_opens_holds_only_what_was_written_and_its_copy_is_whole(
    truth: CommittedRecords, tmp_path: Path, left: str
) -> None:
    accepted = 0
    for seed in range(60):
        folder = tmp_path / str(seed)
        shutil.copytree(truth.folders[left], folder)
        _harm(folder, random.Random(f"repair {left} {seed}"), truth.folders["older"])
        path = folder / "journal.db"
        if problem(path) is None:
            continue
        before = {each.name: each.read_bytes() for each in folder.glob("journal.db*") if "shm" not in each.name}
        copy = copied(path)
        accept(path)
        assert {name: (copy / name).read_bytes() for name in before} == before
        storage = SqliteStorage(path)
        for row in storage.runs(None, 99):
            assert _facts(storage, row.run) <= {fact[:2] + fact[3:] for fact in truth.runs.get(row.run, ([],))[0]}
        storage.write([Entry("new", "k", "1", [("x", "{}")])])
        storage.close()
        SqliteStorage(path).close()
        accepted += 1
        shutil.rmtree(folder)
    assert accepted > 15


def _facts(storage: SqliteStorage, run: str) -> set[Any]:
    try:
        return {(fact.seq, fact.kind, fact.body) for fact in storage.facts(run, 0, 9999)}
    except JournalRefused as refused:
        assert refused.code == "damaged"
        return set()
