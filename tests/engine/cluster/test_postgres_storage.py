"""The journal in PostgreSQL keeps the promises of the one in SQLite, and two more: fencing and one order for all."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from loop_ls.contract.facts.kinds import RunStarted
from loop_ls.engine.events import Event
from loop_ls.engine.journal import Entry, Journal, JournalRefused, Row, SqliteStorage
from loop_ls.engine.journal.postgres import PostgresStorage
from loop_ls.engine.journal.postgres_connection import where
from loop_ls.engine.journal.postgres_schema import LEASE, prepare
from loop_ls.engine.journal.schema import FORMAT
from loop_ls.engine.runs.registry import DAMAGED, Runs


@pytest.fixture
def storage(database: str) -> Iterator[PostgresStorage]:
    made = PostgresStorage(database)
    yield made
    made.close()


def facts(*kinds: str) -> list[tuple[str, str]]:
    return [(kind, "{}") for kind in kinds]


def test_facts_of_one_run_are_numbered_without_gap_and_all_facts_are_ordered(storage: PostgresStorage) -> None:
    storage.write([Entry("a", "1", "1", facts("x", "y")), Entry("b", "1", "1", facts("x")), Entry("a", None, None)])
    storage.write([Entry("a", "2", None, facts("z"))])
    assert [(row.seq, row.kind) for row in storage.facts("a", 0, 10)] == [(1, "x"), (2, "y"), (3, "z")]
    assert [row.position for row in storage.since(0, 10)] == [1, 2, 3, 4]
    kinds = sorted({row.kind for row in storage.since(2, 10)})
    assert [row.position for row in storage.newest(kinds, 2, 1)] == [4]
    assert storage.newest(["nothing"], 0, 10) == []
    assert storage.position() == 4


def test_a_key_is_answered_once_and_its_facts_are_written_once(storage: PostgresStorage) -> None:
    storage.write([Entry("a", "k", None, facts("began"))])
    assert storage.keys("a") == (set(), ["k"])
    first = storage.write([Entry("a", "k", '"one"', facts("x"))])
    second = storage.write([Entry("a", "k", '"two"', facts("x"))])
    assert [len(rows) for rows in first + second] == [1, 0]
    assert storage.value("a", "k") == '"one"'
    assert storage.keys("a") == ({"k"}, [])


def test_iterations_are_found_from_the_last_one_and_by_their_number(storage: PostgresStorage, tmp_path: Path) -> None:
    """As in SQLite, whatever texts a fact holds."""
    began = [("iteration_started", f'{{"place":"each/{number}","iteration":{number}}}') for number in (1, 2, 12, 2)]
    said = ("iteration_started", '{"note":"\\"iteration\\":2,","iteration":7}')
    facts = [*began, ("iteration", '{"iteration":2}'), said]
    local = SqliteStorage(tmp_path / "journal.db")
    for each in (storage, local):
        each.write([Entry("a", "1", "1", facts), Entry("b", "1", "1", began)])
        assert each.iterations("a", None, None, 2) == [6, 4]
        assert each.iterations("a", None, 4, 9) == [3, 2, 1]
        assert each.iterations("a", 2, None, 9) == [4, 2]
        assert each.iterations("a", 2, 4, 1) == [2]
        assert each.iterations("a", 1, None, 9) == [1]
        assert each.iterations("nobody", None, None, 9) == []
    local.close()


def test_a_worker_counts_as_alive_for_as_long_as_its_lease(storage: PostgresStorage, database: str) -> None:
    with psycopg.connect(database) as db:
        written = db.execute("select pg_get_functiondef('loop_ls.share'::regproc)").fetchone()
    assert written is not None and f"interval '{LEASE} seconds'" in written[0]


def test_texts_go_with_the_last_run_that_has_them(storage: PostgresStorage) -> None:
    own, shared = "00" * 16, "11" * 16
    storage.write([Entry("a", "1", "1", facts("x"), {own: "only a \u2028", shared: "both"})])
    storage.write([Entry("b", "1", "1", facts("x"), {shared: "both"})])
    assert storage.text(own) == "only a \u2028"
    storage.write([Entry("a", forget=True)])
    assert (storage.text(own), storage.text(shared)) == ("", "both")
    assert storage.facts("a", 0, 10) == []


def test_runs_are_listed_newest_first_and_found_by_the_beginning_of_their_id(storage: PostgresStorage) -> None:
    storage.write([Entry(run, "1", "1", facts("x")) for run in ("abc1", "abd2", "xyz3")])
    assert sorted(row.run for row in storage.runs(None, 9)) == ["abc1", "abd2", "xyz3"]
    newest = storage.runs(None, 1)[0]
    assert [row.run for row in storage.runs(newest.number, 9)] == [row.run for row in storage.runs(None, 9)][1:]
    assert sorted(storage.matching("ab", 5)) == ["abc1", "abd2"]
    assert storage.matching("%", 5) == []
    storage.write([Entry("abd2", snapshot="{}")])
    assert sorted(storage.unfinished()) == ["abc1", "xyz3"]
    assert storage.snapshot("abd2") == "{}"


def test_who_does_not_own_a_run_writes_nothing_for_it(storage: PostgresStorage) -> None:
    storage.write([Entry("a", ":start", "1", facts("run_started"))])
    with pytest.raises(JournalRefused) as refused:
        storage.write([Entry("a", "k", "1", facts("x"), owned="nobody")])
    assert refused.value.code == "not_owner"
    assert storage.keys("a") == ({":start"}, [])


def test_a_claim_that_has_passed_on_to_somebody_else_is_refused(storage: PostgresStorage, database: str) -> None:
    storage.write([Entry("a", ":start", "1", facts("run_started"), queued=True)])
    claim = "update dbos.workflow_status set status = 'PENDING', executor_id = %s, owner_xid = %s"
    with psycopg.connect(database, autocommit=True) as db:
        db.execute(claim, ("one", "first"))
        storage.write([Entry("a", "k", "1", facts("x"), owned="first")])
        db.execute(claim, ("one", "second"))  # even where the same process has taken it again
        with pytest.raises(JournalRefused):
            storage.write([Entry("a", "l", "1", facts("y"), owned="first")])
    assert [row.kind for row in storage.facts("a", 0, 9)] == ["run_started", "x"]


def test_whether_a_claim_holds_is_asked_of_its_run_alone(storage: PostgresStorage, database: str) -> None:
    """Each entry asks it, so it must not take longer the more runs are pending. An index of DBOS has only those, and
    was chosen for it as long as nobody had counted the rows of its table."""
    runs = [f"run{number}" for number in range(200)]
    storage.write([Entry(run, ":start", "1", facts("run_started"), queued=True) for run in runs])
    read = "select idx_tup_fetch + seq_tup_read from pg_stat_user_tables where relname = 'workflow_status'"
    with psycopg.connect(database, autocommit=True) as db:
        db.execute("update dbos.workflow_status set status = 'PENDING', executor_id = 'one', owner_xid = 'first'")

        def rows() -> int:
            storage._writer.ask(lambda mine: mine.execute("select pg_stat_force_next_flush()"))
            storage.write([Entry("nobody", "k", None, [])])  # flushed at the end of a transaction
            db.execute("select pg_stat_clear_snapshot()")
            found = db.execute(read).fetchone()
            assert found is not None
            return int(found[0])

        before = rows()
        storage.write([Entry("run7", f"k{number}", "1", facts("x"), owned="first") for number in range(20)])
        after = rows()
        assert 20 <= after - before < 200
        call = "select busy from loop_ls.hold('p', false, 'run7', 'first', 'n', '[[1, 1]]', 5, 5)"
        storage._writer.ask(lambda mine: mine.execute(call))
        assert rows() - after < 20


def test_a_run_is_in_the_queue_exactly_if_its_first_fact_is_in_the_journal(
    storage: PostgresStorage, database: str
) -> None:
    storage.write([Entry("a", ":start", "1", facts("run_started"), queued=True)])
    with pytest.raises(JournalRefused):
        storage.write([Entry("b", ":start", "1", facts("run_started"), queued=True), Entry("a", owned="nobody")])
    with psycopg.connect(database) as db:
        queued = db.execute("select workflow_uuid, status, queue_name from dbos.workflow_status").fetchall()
    assert queued == [("a", "ENQUEUED", "runs")]
    storage.write([Entry("a", forget=True)])
    with psycopg.connect(database) as db:
        assert db.execute("select count(*) from dbos.workflow_status").fetchone() == (0,)


def test_an_entry_whose_answer_was_lost_on_the_way_is_not_added_twice(
    storage: PostgresStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The commit came through, the word of it did not: what people ask for has no key, and still counts once."""
    storage.write([Entry("a", ":start", "1", facts("run_started"))])
    ask, cut = storage._writer.ask, [True]

    def losing(work, patience=0.0):  # type: ignore[no-untyped-def]
        done = ask(work, patience)
        if cut:
            cut.clear()
            raise JournalRefused("unreachable", "the cable")
        return done

    monkeypatch.setattr(storage._writer, "ask", losing)
    storage.write([Entry("a", None, None, facts("paused"), at=12.5)])
    assert [row.kind for row in storage.facts("a", 0, 9)] == ["run_started", "paused"]


def test_what_people_say_of_a_run_is_not_written_behind_its_end(storage: PostgresStorage) -> None:
    said = [Entry("a", None, None, facts("stopping"), ongoing=True), Entry("a", "asked", "1", facts("y"), ongoing=True)]
    storage.write([Entry("a", ":end", None), said[0]])
    rows = storage.write([Entry("a", ":end", "1", facts("completed")), *said, Entry("a", None, None, facts("changed"))])
    assert [[row.kind for row in each] for each in rows] == [["completed"], [], [], ["changed"]]
    assert "asked" not in storage.keys("a")[0]


def test_many_writers_leave_no_gap_and_nobody_reads_past_a_fact_that_is_still_being_written(
    database: str, storage: PostgresStorage
) -> None:
    """Positions are given and become visible in one order: a reader that asks for more never misses one."""
    seen: list[Row] = []
    done = threading.Event()

    def read() -> None:
        while not done.is_set() or len(seen) < 4 * 60:
            seen.extend(storage.since(seen[-1].position if seen else 0, 1000))

    def write(name: str) -> None:
        other = PostgresStorage(database)
        for n in range(30):
            other.write([Entry(name, f"{n}", "1", facts("x")), Entry("shared", f"{name}{n}", "1", facts("y"))])
        other.close()

    reader = threading.Thread(target=read)
    writers = [threading.Thread(target=write, args=(name,)) for name in "abcd"]
    for thread in (reader, *writers):
        thread.start()
    for thread in writers:
        thread.join(60)
    done.set()
    reader.join(60)
    assert [row.position for row in seen] == list(range(1, 241))
    assert [row.seq for row in storage.facts("shared", 0, 999)] == list(range(1, 121))


def test_a_journal_of_a_newer_format_is_refused_when_it_is_opened_and_when_it_is_written(
    database: str, storage: PostgresStorage
) -> None:
    with psycopg.connect(database) as db:
        db.execute("update loop_ls.meta set value = %s where name = 'format'", (str(FORMAT + 1),))
    for act in (lambda: PostgresStorage(database), lambda: storage.write([Entry("a", "1", "1", facts("x"))])):
        with pytest.raises(JournalRefused) as refused:
            act()
        assert refused.value.code == "newer_format"
        assert f"format {FORMAT + 1}" in refused.value.message
    assert storage.position() == 0


@pytest.mark.parametrize("working_on", ["run", "worker", "fact", "spending"])
async def test_an_engine_that_opens_the_journal_neither_waits_for_those_that_work_nor_stops_them(
    storage: PostgresStorage, database: str, working_on: str
) -> None:
    """Two that each wait for a table of the other would end one of them: `cannot be reached`, at a busy time."""
    async with await psycopg.AsyncConnection.connect(database) as db:
        await db.execute(f"select count(*) from loop_ls.{working_on}")  # its lock lasts as long as the transaction
        opening = asyncio.create_task(asyncio.to_thread(PostgresStorage, database))
        done, _ = await asyncio.wait({opening}, timeout=20)
        await db.rollback()
        (await opening).close()
    assert done, "it waited for the transaction"


def test_a_server_that_is_not_there_is_refused_without_the_password(postgres: object) -> None:
    url = "postgresql://me:secret@127.0.0.1:9/none"
    with pytest.raises(JournalRefused) as refused:
        PostgresStorage(url)
    assert refused.value.code == "unreachable"
    assert "secret" not in f"{refused.value.message}{refused.value.hint}"
    assert where(url) == "127.0.0.1:9/none"


def test_a_database_that_may_only_be_read_is_refused(database: str, storage: PostgresStorage) -> None:
    storage._writer.ask(lambda db: db.execute("set default_transaction_read_only = on"))
    with pytest.raises(JournalRefused) as refused:
        storage.write([Entry("a", "1", "1", facts("x"))])
    assert refused.value.code == "read_only"


async def test_listeners_hear_what_others_wrote_in_between_and_everything_once(database: str) -> None:
    ours, theirs = Journal(PostgresStorage(database)), PostgresStorage(database)
    heard: list[Event] = []
    ours.listeners.append(heard.extend)
    try:
        await ours.append("a", "1", [("x", {"text": "y" * 300})], 1)
        theirs.write([Entry("b", "1", "1", facts("z"))])
        await ours.append("a", "2", [("x", {})], 1)
        theirs.write([Entry("b", "2", "1", facts("z"))])
        await asyncio.to_thread(ours.catch_up)
        await asyncio.to_thread(ours.catch_up, 4)
        assert [(event.run_id, event.position) for event in heard] == [("a", 1), ("b", 2), ("a", 3), ("b", 4)]
        assert heard[0].body == {"text": "y" * 300}
    finally:
        await ours.close()
        theirs.close()


def test_an_older_format_is_brought_up_to_date_step_by_step_and_what_no_step_leads_on_from_is_refused(
    database: str, storage: PostgresStorage
) -> None:
    with psycopg.connect(database) as db:
        db.execute("update loop_ls.meta set value = %s where name = 'format'", (str(FORMAT - 1),))
        db.commit()
        with pytest.raises(JournalRefused) as refused:
            prepare(db, {})
        assert refused.value.code == "not_a_journal"
        db.rollback()
        prepare(db, {FORMAT - 1: lambda found: found.execute("create table loop_ls.made(a int)") and None})
        assert db.execute("select count(*) from loop_ls.made").fetchone() == (0,)
        assert db.execute("select value from loop_ls.meta where name = 'format'").fetchone() == (str(FORMAT),)
        db.execute("drop table loop_ls.made")
    storage.write([Entry("a", "1", "1", facts("x"))])


LOST = {
    "the last fact": "delete from loop_ls.fact where run = 1 and seq = 3",
    "a fact in the middle": "delete from loop_ls.fact where run = 1 and seq = 2",
    "all facts": "delete from loop_ls.fact where run = 1",
    "an answer": "delete from loop_ls.entry where run = 1 and key = '1'",
    "what an answer says": "update loop_ls.entry set value = null where run = 1 and key = '1'",
    "all answers": "delete from loop_ls.entry where run = 1",
}


@pytest.mark.parametrize("what", LOST)
def test_rows_that_are_missing_are_noticed_and_other_runs_are_whole(
    storage: PostgresStorage, database: str, what: str
) -> None:
    storage.write([Entry("a", "1", "1", facts("x", "y")), Entry("a", "2", "2", facts("z")), Entry("b", "1", "1")])
    storage.write([Entry("a", "3"), Entry("a", None, None)])
    assert storage.keys("a") == ({"1", "2"}, ["3"])
    with psycopg.connect(database, autocommit=True) as db:
        assert db.execute(LOST[what]).rowcount > 0
    with pytest.raises(JournalRefused, match="run a are missing") as refused:
        storage.facts("a", 0, 10)
        storage.answers("a")
    assert refused.value.code == "damaged"
    with pytest.raises(JournalRefused):
        storage.facts("a", 0, 10)
        storage.keys("a")
    assert (storage.facts("b", 0, 10), storage.keys("b")) == ([], ({"1"}, []))


def test_a_run_from_before_anybody_counted_is_taken_as_it_is(storage: PostgresStorage, database: str) -> None:
    storage.write([Entry("a", "1", "1", facts("x"))])
    with psycopg.connect(database, autocommit=True) as db:
        db.execute("update loop_ls.run set answers = null")
    storage.write([Entry("a", "2", "2")])
    assert storage.keys("a") == ({"1", "2"}, [])


def test_an_older_copy_of_a_database_is_not_taken_for_it(database: str, tmp_path: Path) -> None:
    """Each engine keeps in its own folder how far it has seen it."""
    here, elsewhere = tmp_path / "here", tmp_path / "elsewhere"
    here.mkdir()
    elsewhere.mkdir()
    first = PostgresStorage(database, here)
    first.write([Entry("a", "1", "1", facts("x", "y"))])
    PostgresStorage(database, elsewhere).close()
    first.write([Entry("a", "2", "2", facts("z"))])
    first.close()
    PostgresStorage(database, here).close()
    with psycopg.connect(database, autocommit=True) as db:
        db.execute("delete from loop_ls.fact where position = 3")
        db.execute("delete from loop_ls.entry where key = '2'")
        db.execute("update loop_ls.run set last_seq = 2, answers = 1")
        db.execute("update loop_ls.head set position = 2")
    with pytest.raises(JournalRefused, match="1 of 3 known events") as refused:
        PostgresStorage(database, here)
    assert refused.value.code == "damaged"
    PostgresStorage(database, elsewhere).close()  # it had never seen the third one
    [mark] = here.glob("database-*-mark")
    mark.write_bytes(b"?" * len(mark.read_bytes()))
    with pytest.raises(JournalRefused, match="cannot be read"):
        PostgresStorage(database, here)
    mark.unlink()
    PostgresStorage(database, here).close()


def test_another_database_has_a_mark_of_its_own(tmp_path: Path, database: str) -> None:
    one = PostgresStorage(database, tmp_path)
    one.write([Entry("a", "1", "1", facts(*"xyz"))])
    one.close()
    with psycopg.connect(database, autocommit=True) as db:  # it is made anew
        db.execute("drop schema loop_ls cascade")
    PostgresStorage(database, tmp_path).close()
    assert len([*tmp_path.glob("database-*-mark")]) == 2


def test_what_a_deleted_run_has_cost_is_in_the_accounts_of_its_project(storage: PostgresStorage, database: str) -> None:
    def run(name: str, usd: float) -> list[Entry]:
        facts = [("run_started", '{"root":"/p"}'), ("call", f'{{"usd":{usd},"tokens":{{"input":5,"output":5}}}}')]
        return [Entry(name, ":start", "1", facts, at=time.time())]

    storage.write(run("a", 0.5))
    storage.write(run("b", 0.25))
    storage.write([Entry("a", forget=True)])
    storage.write([Entry("b", forget=True)])
    storage.write(run("c", 1.0))
    with psycopg.connect(database) as db:
        found = db.execute("select project, day = '', usd, tokens from loop_ls.account order by 2").fetchall()
    assert found == [("/p", False, 1.75, 30), ("/p", True, 1.75, 30)]


async def test_a_run_whose_answers_are_missing_is_not_taken_up_by_another_engine(
    storage: PostgresStorage, database: str
) -> None:
    """It would pay for them once more."""
    journal = Journal(storage)
    started = RunStarted(format="workflow", name="w", target={"kind": "workflow"}, path="w.yaml", root="/p")
    await journal.append("a", ":start", [started.fact()], {"value": True})
    await journal.append("a", "paid", [("call", {"usd": 1.0})], "an answer")
    runs = Runs(journal)
    assert (await journal.read(runs.taken_up, "a"))[0].status == "running"
    with psycopg.connect(database, autocommit=True) as db:
        db.execute("delete from loop_ls.entry where key = 'paid'")
    state, answered, begun = await journal.read(runs.taken_up, "a")
    assert (state.status, (state.error or {}).get("code"), answered, begun) == ("failed", DAMAGED, set(), [])
    runs.ended(state)
    assert list(runs.damaged) == ["a"]
    assert storage.snapshot("a") is None
    await journal.close()
