"""Listeners: no gap, no double, and nobody waits for a slow one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from loop_ls.engine.events import Event
from loop_ls.engine.journal import Page, weight
from loop_ls.engine.runs import event_bus as module
from loop_ls.engine.runs.event_bus import EventBus


class Record:
    """A journal of facts and the feed over it."""

    def __init__(self) -> None:
        self.facts: list[Event] = []
        self.reads = 0
        self.feed = EventBus(self.since, 0, lambda: 0.0)

    async def since(self, position: int, limit: int) -> Page:
        self.reads += 1
        await asyncio.sleep(0)
        found = [event for event in self.facts if event.position > position]
        return Page(found[:limit], len(found) > limit)

    def add(self, count: int = 1, run_id: str = "r", text: str = "") -> None:
        first = len(self.facts) + 1
        events = [Event(run_id, n, 0.0, "x", {"output": text}, n) for n in range(first, first + count)]
        self.facts += events
        self.feed.publish(events)


@pytest.fixture(autouse=True)
def small_ring(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "RING", 8)
    monkeypatch.setattr(module, "PAGE", 5)


@pytest.fixture
def record() -> Record:
    return Record()


async def take(events: AsyncIterator[Event], count: int) -> list[int]:
    return [(await asyncio.wait_for(anext(events), 60)).position for _ in range(count)]


async def test_a_listener_hears_what_happens_from_the_moment_it_asked(record: Record) -> None:
    record.add(3)
    events = record.feed.listen()
    record.add(2)
    assert await take(events, 2) == [4, 5]


async def test_a_late_listener_reads_what_it_missed_and_then_goes_on(record: Record) -> None:
    record.add(30)
    events = record.feed.listen(after=12)
    assert await take(events, 10) == list(range(13, 23))
    record.add(10)
    assert await take(events, 18) == list(range(23, 41))


async def test_a_listener_that_falls_behind_loses_and_doubles_nothing(record: Record) -> None:
    events = record.feed.listen()
    record.add(1)
    assert await take(events, 1) == [1]
    for _ in range(50):
        record.add(7)
    assert await take(events, 350) == list(range(2, 352))
    assert record.reads > 0


async def test_facts_that_come_while_a_listener_catches_up_are_not_lost(record: Record) -> None:
    record.add(40)
    events = record.feed.listen(after=0)
    heard = []
    for _ in range(100):
        heard += await take(events, 1)
        record.add(1)
    assert heard == list(range(1, 101))


async def test_a_long_text_is_not_kept_for_slow_listeners_and_still_reaches_them(record: Record) -> None:
    events = record.feed.listen()
    record.add(1, text="x" * 100_000)
    record.add(1, text="short")
    heard = [await asyncio.wait_for(anext(events), 60) for _ in range(2)]
    assert [(event.position, len(event.body["output"])) for event in heard] == [(1, 100_000), (2, 5)]
    assert all(weight(event) < 100_000 for event in record.feed._ring)


async def test_a_listener_of_one_run_hears_only_that(record: Record) -> None:
    events = record.feed.listen(after=0, run_id="b")
    record.add(3, "a")
    record.add(2, "b")
    assert await take(events, 2) == [4, 5]


async def test_streamed_text_is_gathered_and_comes_before_the_fact_that_follows(record: Record) -> None:
    events = record.feed.listen()
    waiting = asyncio.ensure_future(anext(events))
    await asyncio.sleep(0)
    for word in ("Hello ", "world"):
        record.feed.show("r", word, {"place": "develop/1/write", "step": "write"})
    record.add()
    first = await waiting
    assert (first.kind, first.seq, first.position) == ("text", 0, 0)
    assert first.wire() == {
        "runId": "r",
        "at": "1970-01-01T00:00:00.000Z",
        "kind": "text",
        "text": "Hello world",
        "place": "develop/1/write",
        "step": "write",
    }
    assert await take(events, 1) == [1]


async def test_text_without_a_fact_is_shown_soon(record: Record) -> None:
    events = record.feed.listen()
    waiting = asyncio.ensure_future(anext(events))
    await asyncio.sleep(0)
    record.feed.show("r", "word", {"place": "p"})
    assert (await asyncio.wait_for(waiting, 60)).body["text"] == "word"


async def test_text_for_nobody_is_not_gathered(record: Record) -> None:
    record.feed.show("r", "word", {})
    assert record.feed._texts == {}


async def test_listening_ends_with_the_engine_after_the_last_fact(record: Record) -> None:
    events = record.feed.listen()
    record.add(2)
    record.feed.close()
    assert [event.position async for event in events] == [1, 2]
    assert record.feed.listeners == 0
