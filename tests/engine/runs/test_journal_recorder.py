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


class Desk:
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
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    made = Desk(tmp_path)
    yield made
    await made.journal.close()


async def test_a_call_in_flight_at_a_crash_is_marked_and_done_again(desk: Desk) -> None:
    desk.control.leaving = True
    task = asyncio.create_task(desk.recorder.call("k", lambda: asyncio.sleep(3600), before=[("step_started", {})]))
    while not desk.control.calls:
        await asyncio.sleep(0.001)
    task.cancel()
    await asyncio.wait({task})
    await desk.crash()
    assert desk.in_flight == ["k"]
    assert await desk.recorder.call("k", desk.pay, before=[("step_started", {})]) == "answer"
    assert await desk.kinds() == ["step_started"]


async def test_a_fact_that_could_not_be_written_ends_the_run_and_hides_nothing(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(batch: Any) -> Any:
        raise JournalRefused("io", "The disk fails.")

    write = desk.journal.storage.write
    monkeypatch.setattr(desk.journal.storage, "write", failing)
    await desk.recorder.record("k", [("x", {})])
    with pytest.raises(JournalRefused):
        await desk.recorder.call("k2", desk.pay)
    monkeypatch.setattr(desk.journal.storage, "write", write)
    with pytest.raises(JournalRefused):
        await desk.recorder.gate()
    assert desk.calls == 0
    assert await desk.kinds() == []


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
        desk = Desk(tmp_path)
        await desk.recorder.call("k", lambda: desk.pay({"text": "hi"}), lambda said: [("x", said)])
        await desk.journal.close()

    asyncio.run(one())
    db = sqlite3.connect(tmp_path / "journal.db")
    assert db.execute("select kind, body from fact").fetchall() == [("x", '{"text":"hi"}')]
    assert db.execute("select key, value from entry").fetchall() == [("k", '{"value":{"text":"hi"}}')]


async def test_a_run_is_no_more_than_a_few_answers_ahead_of_the_disk(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    free, sync = threading.Event(), desk.journal.storage.sync
    monkeypatch.setattr(desk.journal.storage, "sync", lambda: (free.wait(10), sync()))
    for n in range(UNSAFE):
        assert await desk.recorder.call(f"k{n}", desk.pay) == "answer"
        assert desk.recorder.recall(f"k{n}") == "answer"
    one_more = asyncio.create_task(desk.recorder.call("one more", desk.pay))
    done, _ = await asyncio.wait({one_more}, timeout=0.05)
    assert not done
    free.set()
    assert await asyncio.wait_for(one_more, 10) == "answer"
    await desk.recorder.end([("completed", {})])
    assert await desk.recorder.call("k0", desk.pay) == "answer"
    assert desk.calls == UNSAFE + 1


# -- what nobody may read ----------------------------------------------------------------------------


SECRET = "correct-horse-battery"


def masked(desk: Desk) -> list[str]:
    """The run knows a secret from now on; the texts that are shown of it."""
    shown: list[str] = []
    desk.recorder = JournalRecorder("r", desk.journal, desk.control, (), lambda run, text, place: shown.append(text))
    desk.recorder.mask = SecretMask([SECRET])
    desk.journal.masks["r"] = desk.recorder.mask.value
    return shown


async def test_no_answer_no_fact_and_no_failure_takes_a_secret_to_the_disk(desk: Desk) -> None:
    masked(desk)
    failure = Failure("bad", f"it said {SECRET}", f"{SECRET}!")
    live = await desk.recorder.call(
        "k", lambda: desk.pay({"text": f"I am {SECRET}"}), lambda said: [("step_completed", {"output": said})]
    )
    assert live == {"text": "I am [secret]"}
    with pytest.raises(Failure):
        await desk.recorder.call("f", lambda: desk.pay(failure), before=[("step_started", {"input": [SECRET]})])
    await desk.recorder.record("n", [("warning", {"message": SECRET})], {"x": SECRET})
    assert desk.recorder.recall("n") == {"x": "[secret]"}
    await desk.crash()
    assert await desk.recorder.call("k", desk.pay) == live
    for path in desk.folder.iterdir():
        assert SECRET.encode() not in path.read_bytes()


async def test_streamed_text_holds_no_secret_however_it_is_cut(desk: Desk) -> None:
    shown = masked(desk)
    for piece in ("my corr", "ect-horse", "-battery is corr"):
        desk.recorder.stream(piece, place="a")
    desk.recorder.stream("and c", place="b")
    assert shown == ["my ", "[secret] is ", "and "]
    desk.recorder.streamed(place="a")
    desk.recorder.streamed(place="b")
    assert shown == ["my ", "[secret] is ", "and ", "corr", "c"]
