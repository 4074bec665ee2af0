"""A journal that is held by others, cut, damaged, full, or not to be written: refused clearly, and never lost."""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
import subprocess
import tempfile
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from loop_ls.contract.facts.kinds import RunStarted
from loop_ls.engine.core.loop_driver import Outcome
from loop_ls.engine.core.plan import Plan
from loop_ls.engine.core.ports import Models, Recorder
from loop_ls.engine.core.preparer import Prepared
from loop_ls.engine.core.start_request import StartRequest
from loop_ls.engine.journal import Entry, Journal, JournalRefused, SqliteStorage, Storage
from loop_ls.engine.journal.reading import RunCounts
from loop_ls.engine.journal.wal import WriteAheadLog
from loop_ls.engine.recovery.journal_repair import examined, repaired
from loop_ls.engine.service import Engine
from loop_ls.testing.models import ScriptedModels


class EngineProject:
    """An engine whose runs make three calls; the second waits for `go`."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.paid = folder, [0, 0, 0]
        self.go, self.asked = asyncio.Event(), asyncio.Event()
        self.text = ""

    async def open(self, storage: Any = None) -> Engine:
        self.engine = Engine(self.folder, {"workflow": self}, lambda plan: ScriptedModels(), self, storage=storage)
        await self.engine.open()
        return self.engine

    async def start(self) -> str:
        answer = await self.engine.start({"root": str(self.folder), "path": str(self.folder / "w.yaml")})
        assert answer["ok"], answer
        return str(answer["runId"])

    async def state(self, run_id: str) -> dict[str, Any]:
        return dict((await self.engine.state(run_id))["state"])

    async def until(self, run_id: str, *statuses: str) -> dict[str, Any]:
        async with asyncio.timeout(60):
            while (state := await self.state(run_id))["status"] not in statuses:
                await asyncio.sleep(0.01)
        return state

    async def prepare(self, request: StartRequest, models: Any) -> Prepared:
        return Prepared(RunStarted(format="workflow", name="w", target={"kind": "workflow"}, path=request.path))

    async def run(self, plan: Plan, recorder: Recorder, models: Models) -> Outcome:
        for number in range(3):

            async def pay(number: int = number) -> str:
                self.paid[number] += 1
                if number == 1:
                    self.asked.set()
                    await self.go.wait()
                return f"answer {number}{self.text}"

            await recorder.call(f"step {number}", pay, before=[("step_started", {"step": str(number)})])
        return Outcome("completed", "done")


@pytest.fixture
async def project(tmp_path: Path) -> AsyncIterator[EngineProject]:
    made = EngineProject(tmp_path)
    await made.open()
    yield made
    await made.engine.close()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.db"


async def _half_done(project: EngineProject) -> str:
    """A run that has one answer and one call in flight, in a journal that nobody has open."""
    run_id = await project.start()
    await project.asked.wait()
    await project.engine.close()
    project.go.set()
    return run_id


# -- held by somebody else ---------------------------------------------------------------------------


async def test_UP_67_an_engine_that_starts_while_another_program_holds_the_journal_takes_its_runs_up_after_it(
    project: EngineProject, path: Path
) -> None:
    run_id = await _half_done(project)
    holder = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    holder.execute("begin immediate")
    threading.Timer(1.0, lambda: holder.execute("rollback")).start()
    await project.open()
    state = await project.until(run_id, "completed")
    assert state["reason"] == "completed"
    assert project.paid == [1, 2, 1]
    holder.close()


async def test_UP_67_a_journal_that_is_held_for_a_while_holds_up_its_runs_and_nobody_else(
    project: EngineProject, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = await project.start()
    await project.asked.wait()
    storage = project.engine.journal.storage
    assert isinstance(storage, SqliteStorage)
    patience, write = [], storage.write

    def watched(batch: Any) -> Any:
        patience.extend(storage._writer.execute("pragma busy_timeout").fetchone())
        return write(batch)

    monkeypatch.setattr(storage, "write", watched)
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("begin immediate")
    project.go.set()
    async with asyncio.timeout(60):
        while len(patience) < 3:  # it tries again and again
            await asyncio.sleep(0.001)
    assert set(patience) == {0}, "SQLite itself would hold up the loop while it waits"
    assert (await project.state(run_id))["status"] == "running"
    holder.execute("rollback")
    holder.close()
    await project.until(run_id, "completed")
    assert project.paid == [1, 1, 1]


async def test_UP_67_a_journal_that_stays_held_is_refused_in_words(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("loop_ls.engine.journal.journal.BUSY", 0.1)
    journal = Journal(SqliteStorage(path))
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("begin immediate")
    with pytest.raises(JournalRefused) as refused:
        await journal.append("r", "k", answer=1)
    assert refused.value.code == "busy"
    assert refused.value.hint
    holder.execute("rollback")
    holder.close()
    await journal.append("r", "k", answer=1)
    await journal.close()


# -- cut and damaged -----------------------------------------------------------------------------------


async def test_UP_48_what_was_cut_at_the_end_is_told_and_the_run_goes_on_from_the_fact_before_once_a_person_says_so(
    project: EngineProject, path: Path, tmp_path: Path
) -> None:
    run_id = await project.start()
    await project.asked.wait()
    whole = project.engine.journal.storage.facts(run_id, 0, 99)
    copy = tmp_path / "copy"
    copy.mkdir()
    log = path.with_name("journal.db-wal").read_bytes()
    for name in ("journal.db", "journal.db-mark"):
        shutil.copy2(path.with_name(name), copy)
    with closing(sqlite3.connect(path)) as db:
        _, pages, _ = db.execute("pragma wal_checkpoint(passive)").fetchone()
    (copy / "journal.db-wal").write_bytes(log[: 32 + pages * (24 + 1024) - 700])  # in the last page that was written
    other = EngineProject(copy)
    other.go.set()
    with pytest.raises(JournalRefused) as refused:
        await other.open()
    assert refused.value.code == "damaged"
    assert "loop-ls engine repair" in refused.value.hint
    done = await repaired(copy / "journal.db", examined(copy / "journal.db"))
    assert done.waiting == [run_id]
    await other.open()
    state = await other.state(run_id)
    assert (state["status"], state["reason"], other.paid) == ("interrupted", "journal_repaired", [0, 0, 0])
    assert state["mayHavePaidTwice"]
    assert (await other.engine.control("resume", run_id))["ok"]
    state = await other.until(run_id, "completed")
    facts = (await other.engine.events(run_id))["events"]
    assert [fact["seq"] for fact in facts] == list(range(1, len(facts) + 1))
    assert [fact["kind"] for fact in facts][:1] == [whole[0].kind]
    assert state["exitCode"] == 0
    await other.engine.close()


@pytest.mark.parametrize(
    "damage",
    [
        "update fact set body = substr(body, 1, length(body) / 2) where seq = 2",
        "update fact set body = '[1]' where seq = 2",
        "delete from fact where seq = 2",
        "update fact set seq = 9 where seq = 2",
    ],
)
async def test_UP_48_a_run_whose_record_is_damaged_is_shown_as_such_and_calls_nobody(
    project: EngineProject, path: Path, damage: str
) -> None:
    run_id = await _half_done(project)
    db = sqlite3.connect(path)
    db.execute(damage)
    db.commit()
    before = db.execute("select * from fact order by position").fetchall()
    paid = list(project.paid)
    await project.open()
    state = await project.state(run_id)
    assert (state["status"], state["error"]["code"]) == ("failed", "damaged")
    assert state["error"]["hint"]
    listed = (await project.engine.runs())["runs"]
    assert [each["runId"] for each in listed] == [run_id]
    assert (await project.engine.control("resume", run_id))["code"] == "wrong_status"
    assert project.paid == paid
    other = await project.start()  # the rest of the journal is none the worse
    await project.until(other, "completed")
    assert db.execute("select * from fact where run = 1 order by position").fetchall() == before
    db.close()


async def test_UP_48_an_answer_that_is_damaged_ends_its_run_and_no_call_follows(
    project: EngineProject, path: Path
) -> None:
    run_id = await _half_done(project)
    db = sqlite3.connect(path)
    db.execute("update entry set value = '{\"value\": \"answ' where key = 'step 0'")
    db.commit()
    db.close()
    paid = list(project.paid)
    await project.open()
    state = await project.until(run_id, "failed")
    assert state["error"]["code"] == "damaged"
    assert project.paid == paid


async def test_a_journal_whose_pages_are_damaged_is_refused_and_left_alone(project: EngineProject, path: Path) -> None:
    await _half_done(project)
    damaged = path.read_bytes()[:1024] + b"\xff" * 8192
    path.write_bytes(damaged)
    with pytest.raises(JournalRefused) as refused:
        await project.open()
    assert refused.value.code == "damaged"
    assert path.read_bytes() == damaged


def _crashed(folder: Path) -> Path:
    """What lies in a data folder after a crash: a journal that is open, seen from outside."""
    path, there = folder / "journal.db", folder / "crashed"
    there.mkdir()
    storage = SqliteStorage(path)
    storage.write([Entry("a", "1", "1", [("x", "{}")])])
    for each in folder.glob("journal.db*"):
        if not each.name.endswith("-shm"):
            shutil.copy2(each, there)
    storage.close()
    return there / "journal.db"


def test_a_crash_alone_loses_nothing_and_a_clean_end_leaves_the_journal_and_its_mark(tmp_path: Path) -> None:
    path = _crashed(tmp_path)
    storage = SqliteStorage(path)
    assert [row.kind for row in storage.facts("a", 0, 9)] == ["x"]
    storage.close()
    assert sorted(each.name for each in path.parent.iterdir()) == ["journal.db", "journal.db-mark"]


def test_a_log_that_somebody_took_away_is_no_new_beginning(tmp_path: Path) -> None:
    path = _crashed(tmp_path)
    log = path.with_name("journal.db-wal").read_bytes()
    for left in (None, b""):
        path.with_name("journal.db-wal").unlink()
        if left is not None:
            path.with_name("journal.db-wal").write_bytes(left)
        with pytest.raises(JournalRefused) as refused:
            SqliteStorage(path)
        assert refused.value.code == "damaged"
        assert "journal.db-wal is missing" in refused.value.message
        path.with_name("journal.db-wal").write_bytes(log)
    storage = SqliteStorage(path)  # nothing was touched: it is restored, and all is there
    assert [row.kind for row in storage.facts("a", 0, 9)] == ["x"]
    storage.close()


def test_a_log_that_another_program_copied_into_the_journal_is_not_missed(tmp_path: Path) -> None:
    path = _crashed(tmp_path)
    with closing(sqlite3.connect(path)) as db:  # whoever has a look at it after the crash
        assert db.execute("select count(*) from fact").fetchone() == (1,)
    assert not path.with_name("journal.db-wal").exists()
    storage = SqliteStorage(path)
    assert [row.kind for row in storage.facts("a", 0, 9)] == ["x"]
    storage.close()


def test_a_log_is_missed_after_it_was_copied_by_us_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("loop_ls.engine.journal.wal.COMMITS", 3)
    path, there = tmp_path / "journal.db", tmp_path / "crashed"
    there.mkdir()
    storage = SqliteStorage(path)
    for number in range(7):
        storage.write([Entry("a", str(number), "1", [("x", "{}")])])
        storage.tidy()
    for each in (path, path.with_name("journal.db-mark")):
        shutil.copy2(each, there)
    storage.close()
    with pytest.raises(JournalRefused, match=r"journal\.db-wal is missing"):
        SqliteStorage(there / "journal.db")


def test_whoever_goes_on_without_the_log_says_so(tmp_path: Path) -> None:
    path = _crashed(tmp_path)
    path.with_name("journal.db-wal").unlink()
    assert "1 run" in examined(path).problem
    copy = asyncio.run(repaired(path, examined(path))).copy
    assert (Path(copy) / "journal.db-mark").is_file()
    storage = SqliteStorage(path)
    assert storage.runs(None, 9) == []
    storage.close()
    assert examined(path).whole


@pytest.mark.parametrize("left", [None, b""], ids=["gone", "empty"])
def test_a_journal_that_was_cut_to_nothing_beside_its_log_is_no_new_beginning(
    tmp_path: Path, left: bytes | None
) -> None:
    path = _crashed(tmp_path)
    whole = path.read_bytes()
    path.unlink()
    if left is not None:
        path.write_bytes(left)
    with pytest.raises(JournalRefused) as refused:
        SqliteStorage(path)
    assert (refused.value.code, "journal.db is missing" in refused.value.message) == ("damaged", True)
    path.write_bytes(whole)
    storage = SqliteStorage(path)
    assert [row.kind for row in storage.facts("a", 0, 9)] == ["x"]
    storage.close()


@pytest.mark.parametrize("left", [None, b""], ids=["gone", "empty"])
def test_a_journal_that_was_taken_away_beside_its_mark_is_missed(tmp_path: Path, left: bytes | None) -> None:
    path = _crashed(tmp_path)
    SqliteStorage(path).close()
    path.unlink()
    if left is not None:
        path.write_bytes(left)
    with pytest.raises(JournalRefused, match=r"journal\.db is missing, with all of its 1 run"):
        SqliteStorage(path)
    path.unlink(missing_ok=True)
    path.with_name("journal.db-mark").unlink()  # all of it
    storage = SqliteStorage(path)
    assert storage.runs(None, 9) == []
    storage.close()


def test_after_a_power_failure_only_what_the_disk_confirmed_is_missed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "journal.db"
    storage = SqliteStorage(path)
    storage.write([Entry("a", "1", "1", [("x", "{}")])])
    storage.sync()
    storage.write([Entry("a", "2", "1", [("y", "{}")])])
    confirmed = path.with_name("journal.db-mark").read_bytes()
    storage.write([Entry("a", "3", "1", [("z", "{}")])])
    storage.close()
    with closing(sqlite3.connect(path)) as db:  # as if the disk had never got the last ones
        db.execute("delete from fact where seq > 1")
        db.execute("delete from entry where key > '1'")
        row = RunCounts(1, "a", 1, 1, 1, 0)
        db.execute("update run set facts = 1, answers = 1, writes = 1, sum = ?", (row.sum,))
        db.commit()
    path.with_name("journal.db-mark").write_bytes(confirmed)
    with pytest.raises(JournalRefused, match="1 of 2 entries are missing"):
        SqliteStorage(path)
    monkeypatch.setattr("loop_ls.engine.journal.mark.boot_mark", lambda: "another life of this machine")
    storage = SqliteStorage(path)
    assert [row.kind for row in storage.facts("a", 0, 9)] == ["x"]
    storage.close()


async def test_the_engine_says_which_runs_stand_because_their_record_is_damaged_until_that_is_accepted(
    project: EngineProject, path: Path
) -> None:
    run_id = await _half_done(project)
    with closing(sqlite3.connect(path)) as db:
        db.execute("update entry set value = replace(value, 'answer 0', 'answer 9')")
        db.commit()
    await project.open()
    assert project.engine.status["damaged"] == [run_id]
    assert project.engine.live == []
    await project.engine.close()
    done = await repaired(path, examined(path))
    assert (done.waiting, done.given_up) == ([], [run_id])
    await project.open()
    assert project.engine.status["damaged"] == []
    assert (await project.state(run_id))["error"]["code"] == "damaged"
    assert project.paid == [1, 1, 0]


# -- full, read-only, clocks ---------------------------------------------------------------------------


class Full(SqliteStorage):
    """A disk that is full for a while."""

    full = False

    def write(self, batch: Any) -> Any:
        if self.full:
            raise JournalRefused("disk_full", "The disk is full.", "Free some space.")
        return super().write(batch)


async def test_a_full_disk_stops_runs_where_they_are_and_they_go_on_with_the_answer_they_have_when_there_is_space(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("loop_ls.engine.journal.journal.OFFER_AGAIN", 0.02)
    made: list[Full] = []

    def storage() -> Storage:
        made.append(Full(tmp_path / "journal.db"))
        return made[-1]

    project = EngineProject(tmp_path)
    await project.open(storage)
    run_id = await project.start()
    await project.asked.wait()
    made[0].full = True
    project.go.set()
    state = await project.until(run_id, "interrupted")
    assert (state["reason"], state["error"]["message"]) == ("disk_full", "The disk is full.")
    refused = await project.engine.start({"root": str(tmp_path), "path": str(tmp_path / "w.yaml")})
    assert (refused["code"], refused["message"]) == ("engine_not_ready", "The disk is full.")
    assert (await project.engine.events(run_id))["events"]  # reading goes on
    assert project.paid == [1, 1, 0]
    made[0].full = False
    state = await project.until(run_id, "completed")
    assert "error" not in state
    facts = (await project.engine.events(run_id))["events"]
    assert [fact["seq"] for fact in facts] == list(range(1, len(facts) + 1))
    assert project.paid == [1, 1, 1]
    await project.engine.close()


async def test_a_run_that_stands_for_want_of_space_goes_on_after_a_restart(tmp_path: Path) -> None:
    made: list[Full] = []

    def storage() -> Storage:
        made.append(Full(tmp_path / "journal.db"))
        return made[-1]

    project = EngineProject(tmp_path)
    await project.open(storage)
    run_id = await project.start()
    await project.asked.wait()
    made[0].full = True
    project.go.set()
    await project.until(run_id, "interrupted")
    await project.engine.close()
    await project.open()
    await project.until(run_id, "completed")
    assert project.paid == [1, 2, 1]  # only the call whose answer was never written


async def test_nothing_of_a_run_is_written_before_what_there_was_no_room_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("loop_ls.engine.journal.journal.OFFER_AGAIN", 0.02)

    class Small(SqliteStorage):
        room = 1000

        def write(self, batch: Any) -> Any:
            if any(len(body) > self.room for entry in batch for _, body in entry.facts):
                raise JournalRefused("disk_full", "The disk is full.", "Free some space.")
            written.extend(kind for entry in batch for kind, _ in entry.facts)
            return super().write(batch)

    written: list[str] = []
    storage = Small(tmp_path / "journal.db")
    journal = Journal(storage)
    large = journal.append("a", "1", [("large", {"n": list(range(1000))})], 1, patient=True)
    small = [journal.append("a", str(n), [("small", {})], 1, patient=True, when="soon") for n in range(2, 5)]
    await journal.append("b", "1", [("other", {})], 1, patient=True)
    assert not large.done() and not any(each.done() for each in small)
    storage.room = 100_000
    await asyncio.gather(large, *small)
    assert written == ["other", "large", "small", "small", "small"]
    assert [row.kind for row in storage.facts("a", 0, 9)] == written[1:]
    await journal.close()


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can make a small disk")
async def test_a_real_disk_that_is_full_repeats_no_call_and_ends_the_run_when_there_is_space(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("loop_ls.engine.journal.journal.OFFER_AGAIN", 0.1)
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=6m", "none", str(disk)], capture_output=True)
    if mounted.returncode != 0:
        pytest.skip("this system lets nobody make a small disk")
    try:
        ballast = disk / "ballast"
        project = EngineProject(disk)
        await project.open()
        run_id = await project.start()
        await project.asked.wait()
        with suppress(OSError), ballast.open("wb") as file:
            while True:
                file.write(bytes(4096))
                file.flush()
        project.text = "x" * 3_000_000
        project.go.set()
        state = await project.until(run_id, "interrupted")
        assert state["reason"] == "disk_full"
        ballast.unlink()
        await project.until(run_id, "completed")
        assert project.paid == [1, 1, 1]
        await project.engine.close()
    finally:
        subprocess.run(["umount", "-l", str(disk)], capture_output=True)


NOBODY = 65534


@contextmanager
def _as_nobody() -> Iterator[None]:
    """The superuser may write everywhere, so somebody else has to look."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def seen_by_all() -> Iterator[Path]:
    """A folder that other users may enter too, unlike those that pytest makes."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.mark.parametrize("name", ["journal.db", "journal.db-wal", "journal.db-shm", "journal.db-mark"])
def test_a_folder_with_the_name_of_a_file_of_the_journal_is_named(path: Path, name: str) -> None:
    if name != "journal.db":
        SqliteStorage(path).close()
        path.with_name(name).unlink(missing_ok=True)
    path.with_name(name).mkdir(parents=True)
    with pytest.raises(JournalRefused) as refused:
        SqliteStorage(path)
    assert refused.value.code == "not_a_journal"
    assert f"{name} in the data folder {path.parent} is a folder" in refused.value.message
    assert path.with_name(name).is_dir()


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="this system has no such users")
@pytest.mark.parametrize("there", [True, False], ids=["with a journal", "empty"])
def test_a_folder_that_may_only_be_read_is_refused(seen_by_all: Path, there: bool) -> None:
    path = seen_by_all / "journal.db"
    if there:
        SqliteStorage(path).close()
        path.chmod(0o444)
    seen_by_all.chmod(0o555)
    with _as_nobody(), pytest.raises(JournalRefused) as refused:
        SqliteStorage(path)
    assert refused.value.code == "read_only"
    assert refused.value.hint
    seen_by_all.chmod(0o755)


def test_a_journal_that_became_read_only_refuses_to_write_and_can_be_read(path: Path) -> None:
    storage = SqliteStorage(path)
    storage.write([Entry("a", "1", "1", [("x", "{}")])])
    storage._writer.execute("pragma query_only = on")
    with pytest.raises(JournalRefused) as refused:
        storage.write([Entry("a", "2", "1", [("y", "{}")])])
    assert refused.value.code == "read_only"
    assert [row.kind for row in storage.facts("a", 0, 9)] == ["x"]
    storage.close()


async def test_a_clock_that_jumps_back_breaks_no_order_and_takes_no_time_away(tmp_path: Path) -> None:
    now = [1_000_000.0]
    project = EngineProject(tmp_path)
    project.engine = Engine(
        tmp_path, {"workflow": project}, lambda plan: ScriptedModels(), project, clock=lambda: now[0]
    )
    await project.engine.open()
    run_id = await project.start()
    await project.asked.wait()
    now[0] -= 86_400
    project.go.set()
    state = await project.until(run_id, "completed")
    facts = (await project.engine.events(run_id))["events"]
    assert [fact["seq"] for fact in facts] == list(range(1, len(facts) + 1))
    assert [fact["position"] for fact in facts] == sorted(fact["position"] for fact in facts)
    assert state["elapsedMs"] >= 0
    await project.engine.close()


def test_a_disk_that_is_full_at_the_start_is_named_by_the_first_commit(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "journal.db", isolation_level=None)) as db:
        db.execute("pragma journal_mode = wal")
        db.execute("create table meta(name text, value text)")
        db.execute("pragma max_page_count = 3")  # SQLite ends the transaction by itself, as on a full disk
        assert WriteAheadLog(tmp_path / "journal.db", db, db).there
        with pytest.raises(sqlite3.OperationalError, match="full"):
            db.execute("insert into meta values('a', zeroblob(100000))")
