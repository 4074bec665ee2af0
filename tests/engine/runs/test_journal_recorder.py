"""The recorder over a real journal: what only a disk can do. What every recorder promises is in the contract."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from loop_ls.engine.core.ports import Failure
from loop_ls.engine.core.run_gate import Control
from loop_ls.engine.journal import Journal, JournalRefused, SqliteStorage
from loop_ls.engine.runs.journal_recorder import UNSAFE, JournalRecorder
from loop_ls.engine.runs.secret_mask import SecretMask


class RecordedRun:
    """A run at a journal that can be left and come back to."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.calls = folder, 0
        self.open()

    def open(self, control: Control | None = None) -> None:
        self.journal = Journal(SqliteStorage(self.folder / "journal.db"))
        self.control = control or Control()
        answered, self.in_flight = self.journal.storage.keys("r")
        self.recorder = JournalRecorder("r", self.journal, self.control, answered)

    async def crash(self) -> None:
        await self.journal.close()
        self.open()

    async def pay(self, answer: Any = "answer") -> Any:
        self.calls += 1
        if isinstance(answer, BaseException):
            raise answer
        return answer

    async def kinds(self) -> list[str]:
        return [event.kind for event in (await self.journal.facts("r")).events]


@pytest.fixture
async def recorded_run(tmp_path: Path) -> AsyncIterator[RecordedRun]:
    made = RecordedRun(tmp_path)
    yield made
    await made.journal.close()


async def test_a_call_in_flight_at_a_crash_is_marked_and_done_again(recorded_run: RecordedRun) -> None:
    recorded_run.control.leaving = True
    task = asyncio.create_task(
        recorded_run.recorder.call("k", lambda: asyncio.sleep(3600), before=[("step_started", {})])
    )
    while not recorded_run.control.calls:
        await asyncio.sleep(0.001)
    task.cancel()
    await asyncio.wait({task})
    await recorded_run.crash()
    assert recorded_run.in_flight == ["k"]
    assert await recorded_run.recorder.call("k", recorded_run.pay, before=[("step_started", {})]) == "answer"
    assert await recorded_run.kinds() == ["step_started"]


async def test_a_fact_that_could_not_be_written_ends_the_run_and_hides_nothing(
    recorded_run: RecordedRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(batch: Any) -> Any:
        raise JournalRefused("io", "The disk fails.")

    write = recorded_run.journal.storage.write
    monkeypatch.setattr(recorded_run.journal.storage, "write", failing)
    await recorded_run.recorder.record("k", [("x", {})])
    with pytest.raises(JournalRefused):
        await recorded_run.recorder.call("k2", recorded_run.pay)
    monkeypatch.setattr(recorded_run.journal.storage, "write", write)
    with pytest.raises(JournalRefused):
        await recorded_run.recorder.gate()
    assert recorded_run.calls == 0
    assert await recorded_run.kinds() == []


async def test_time_of_a_pause_is_not_time_of_the_run() -> None:
    now = 0.0
    control = Control(active=5.0, clock=lambda: now)
    now = 10.0
    assert control.active() == 15.0
    control.pause()
    now = 1000.0
    assert control.active() == 15.0
    control.resume()
    now = 1001.0
    assert control.active() == 16.0


def test_the_file_is_plain_json(tmp_path: Path) -> None:
    async def one() -> None:
        recorded_run = RecordedRun(tmp_path)
        await recorded_run.recorder.call("k", lambda: recorded_run.pay({"text": "hi"}), lambda said: [("x", said)])
        await recorded_run.journal.close()

    asyncio.run(one())
    db = sqlite3.connect(tmp_path / "journal.db")
    assert db.execute("select kind, body from fact").fetchall() == [("x", '{"text":"hi"}')]
    assert db.execute("select key, value from entry").fetchall() == [("k", '{"value":{"text":"hi"}}')]


async def test_a_run_is_no_more_than_a_few_answers_ahead_of_the_disk(
    recorded_run: RecordedRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    free, sync = threading.Event(), recorded_run.journal.storage.sync
    monkeypatch.setattr(recorded_run.journal.storage, "sync", lambda: (free.wait(60), sync()))
    for n in range(UNSAFE):
        assert await recorded_run.recorder.call(f"k{n}", recorded_run.pay) == "answer"
        assert recorded_run.recorder.recall(f"k{n}") == "answer"
    one_more = asyncio.create_task(recorded_run.recorder.call("one more", recorded_run.pay))
    done, _ = await asyncio.wait({one_more}, timeout=0.05)
    assert not done
    free.set()
    assert await asyncio.wait_for(one_more, 60) == "answer"
    await recorded_run.recorder.end([("completed", {})])
    assert await recorded_run.recorder.call("k0", recorded_run.pay) == "answer"
    assert recorded_run.calls == UNSAFE + 1


# -- what nobody may read ----------------------------------------------------------------------------


SECRET = "correct-horse-battery"


def masked(recorded_run: RecordedRun) -> list[str]:
    """The run knows a secret from now on; the texts that are shown of it."""
    shown: list[str] = []
    recorded_run.recorder = JournalRecorder(
        "r", recorded_run.journal, recorded_run.control, (), lambda run, text, place: shown.append(text)
    )
    recorded_run.recorder.mask = SecretMask([SECRET])
    recorded_run.journal.masks["r"] = recorded_run.recorder.mask.value
    return shown


async def test_no_answer_no_fact_and_no_failure_takes_a_secret_to_the_disk(recorded_run: RecordedRun) -> None:
    masked(recorded_run)
    failure = Failure("bad", f"it said {SECRET}", f"{SECRET}!")
    live = await recorded_run.recorder.call(
        "k", lambda: recorded_run.pay({"text": f"I am {SECRET}"}), lambda said: [("step_completed", {"output": said})]
    )
    assert live == {"text": "I am [secret]"}
    with pytest.raises(Failure):
        await recorded_run.recorder.call(
            "f", lambda: recorded_run.pay(failure), before=[("step_started", {"input": [SECRET]})]
        )
    await recorded_run.recorder.record("n", [("warning", {"message": SECRET})], {"x": SECRET})
    assert recorded_run.recorder.recall("n") == {"x": "[secret]"}
    await recorded_run.crash()
    assert await recorded_run.recorder.call("k", recorded_run.pay) == live
    for path in recorded_run.folder.iterdir():
        assert SECRET.encode() not in path.read_bytes()


async def test_streamed_text_holds_no_secret_however_it_is_cut(recorded_run: RecordedRun) -> None:
    shown = masked(recorded_run)
    for piece in ("my corr", "ect-horse", "-battery is corr"):
        recorded_run.recorder.stream(piece, place="a")
    recorded_run.recorder.stream("and c", place="b")
    assert shown == ["my ", "[secret] is ", "and "]
    recorded_run.recorder.streamed(place="a")
    recorded_run.recorder.streamed(place="b")
    assert shown == ["my ", "[secret] is ", "and ", "corr", "c"]
