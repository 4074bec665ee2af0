"""The journal on the loop: order, group commit, and runs that do not suffer for one another."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from loop_ls.engine.events import Event
from loop_ls.engine.journal import Journal, JournalRefused, SqliteStorage
from loop_ls.engine.journal import journal as module
from loop_ls.text.hash import hash_of


@pytest.fixture
async def journal(tmp_path: Path) -> AsyncIterator[Journal]:
    opened = Journal(SqliteStorage(tmp_path / "journal.db"))
    yield opened
    await opened.close()


async def test_listeners_hear_of_facts_in_order_after_they_are_stored(journal: Journal) -> None:
    heard: list[Event] = []
    journal.listeners.append(lambda events: heard.extend(events))
    waiting = [journal.append(f"r{n % 3}", f"k{n}", [("x", {"n": n})], n) for n in range(100)]
    await asyncio.gather(*waiting)
    assert [event.body["n"] for event in heard] == list(range(100))
    assert [event.position for event in heard] == list(range(1, 101))
    assert heard == (await journal.since(0)).events
    assert [event.seq for event in (await journal.facts("r0")).events] == list(range(1, 35))


async def test_an_answer_is_what_was_recorded_first(journal: Journal) -> None:
    await journal.append("r", "k", answer={"text": "a" * 1000})
    assert await journal.append("r", "k", [("x", {})], answer="other") == []
    assert journal.recall("r", "k") == {"text": "a" * 1000}
    assert journal.recall("r", "other") is None


async def test_texts_that_are_kept_can_be_read_by_their_hash(journal: Journal) -> None:
    text = "name: w\n"
    await journal.append("r", "k", answer=True, keep={hash_of(text): text})
    assert journal.storage.text(hash_of(text)) == text


async def test_one_bad_entry_does_not_take_others_of_its_batch_with_it(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = journal.storage.write

    def picky(batch):  # type: ignore[no-untyped-def]
        if any(entry.run == "bad" for entry in batch):
            raise JournalRefused("io", "not this one")
        return write(batch)

    monkeypatch.setattr(journal.storage, "write", picky)
    good, bad, fine = (journal.append(run, "k", [("x", {})], 1) for run in ("a", "bad", "b"))
    assert len(await good) == len(await fine) == 1
    with pytest.raises(JournalRefused):
        await bad
    assert [event.run_id for event in (await journal.since(0)).events] == ["a", "b"]


async def test_a_fault_of_the_storage_does_not_end_the_writer(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = journal.storage.write
    monkeypatch.setattr(journal.storage, "write", lambda batch: 1 / 0)
    with pytest.raises(JournalRefused):
        await journal.append("r", "k", answer=1)
    monkeypatch.setattr(journal.storage, "write", write)
    await journal.append("r", "k", answer=1)
    assert journal.recall("r", "k") == 1


async def test_closing_writes_what_is_queued_and_refuses_what_comes_later(tmp_path: Path) -> None:
    journal = Journal(SqliteStorage(tmp_path / "journal.db"))
    for n in range(50):
        journal.append("r", f"k{n}", [("x", {})], n)
    await journal.close()
    with pytest.raises(JournalRefused):
        await journal.append("r", "late", answer=1)
    again = SqliteStorage(tmp_path / "journal.db")
    assert len(again.facts("r", 0, 100)) == 50


async def test_a_cancelled_wait_does_not_undo_the_entry(journal: Journal) -> None:
    done = journal.append("r", "k", [("x", {})], 1)
    done.cancel()
    await journal.append("r", "k2", answer=1)
    assert journal.recall("r", "k") == 1


async def test_a_page_ends_before_it_fills_the_memory(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PAGE_WEIGHT", 2500)
    for n in range(5):
        await journal.append("r", f"k{n}", [("iteration", {"output": str(n) * 1000})], n)
    first = await journal.since(0)
    assert ([event.seq for event in first.events], first.more) == ([1, 2, 3], True)
    rest = await journal.since(first.events[-1].position)
    assert ([event.seq for event in rest.events], rest.more) == ([4, 5], False)


async def test_a_prompt_storage_has_an_entry_before_append_returns(journal: Journal) -> None:
    heard: list[Event] = []
    journal.listeners.append(heard.extend)
    done = journal.append("r", "k", [("x", {})], 1)
    assert journal.recall("r", "k") == 1
    assert [event.seq for event in heard] == [1]
    assert not done.done()  # the disk is waited for elsewhere
    assert await done == heard


async def test_the_disk_is_waited_for_before_an_entry_counts_as_safe(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    free, sync = threading.Event(), journal.storage.sync
    monkeypatch.setattr(journal.storage, "sync", lambda: (free.wait(60), sync()))
    slow = journal.append("r", "k", [("x", {})], 1)
    prompt = journal.append("r", "k2", [("x", {})], when="now")
    assert len(await prompt) == 1
    assert not slow.done()
    free.set()
    assert len(await asyncio.wait_for(slow, 60)) == 1


async def test_a_disk_that_fails_is_told_to_whoever_waits_for_it(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal.storage, "sync", lambda: 1 / 0)
    with pytest.raises(JournalRefused):
        await journal.append("r", "k", answer=1)
    assert await journal.append("r", "k2", [("x", {})], when="now")


async def test_very_long_texts_are_written_by_the_thread(journal: Journal) -> None:
    done = journal.append("r", "k", [("iteration", {"output": "x" * 1_000_000})], 1)
    later = journal.append("r", "k2", [("x", {})], when="now")
    assert journal.recall("r", "k") is None
    assert [event.seq for event in await later] == [2]
    assert [event.seq for event in await done] == [1]
