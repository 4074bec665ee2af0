"""UP-59: what happens when nobody is there, to the second."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from loop_ls.engine.api.presence import Presence


@dataclass
class Engine:
    """Says when it was asked for what."""

    working: bool = False
    torn: list[float] = field(default_factory=list)
    left: list[float] = field(default_factory=list)

    async def teardown(self) -> None:
        self.torn.append(now())
        self.working = False

    async def busy(self) -> bool:
        return self.working

    def leave(self) -> None:
        self.left.append(now())


def now() -> float:
    """Seconds since the test began: its loop starts at 0."""
    return round(asyncio.get_running_loop().time(), 1)


@asynccontextmanager
async def watched(engine: Engine, grace: float | None = 60.0, idle: float | None = None) -> AsyncIterator[Presence]:
    made = Presence(teardown=engine.teardown, busy=engine.busy, leave=engine.leave, grace=grace, idle=idle)
    made.start()
    try:
        yield made
    finally:
        await made.aclose()


async def test_UP_59_runs_end_when_the_last_listener_is_gone_for_the_grace_time() -> None:
    engine = Engine(working=True)
    async with watched(engine) as presence:
        with presence.listening():
            await asyncio.sleep(500)
        await asyncio.sleep(59.9)
        assert engine.torn == []
        await asyncio.sleep(500)
    assert engine.torn == [560.0], "once, a minute after"


async def test_UP_59_whoever_comes_back_in_time_finds_everything_going_on() -> None:
    engine = Engine(working=True)
    async with watched(engine) as presence:
        for _ in range(5):
            with presence.listening():
                await asyncio.sleep(1)
            await asyncio.sleep(59)
    assert engine.torn == []


async def test_one_of_two_listeners_is_enough() -> None:
    engine = Engine(working=True)
    async with watched(engine) as presence:
        with presence.listening():
            with presence.listening():
                await asyncio.sleep(1)
            await asyncio.sleep(500)
    assert engine.torn == []


async def test_where_nobody_ever_listened_nothing_is_torn_down() -> None:
    engine = Engine(working=True)
    async with watched(engine) as presence:
        presence.touch()
        await asyncio.sleep(500)
    assert engine.torn == []


async def test_UP_59_whoever_starts_a_run_and_never_listens_is_gone_too() -> None:
    engine = Engine(working=True)
    async with watched(engine) as presence:
        await asyncio.sleep(100)
        presence.expect()
        await asyncio.sleep(30)
        presence.expect()  # a second run gives the first one no more time
        await asyncio.sleep(500)
    assert engine.torn == [160.0]


async def test_UP_59_whoever_starts_a_run_may_come_within_the_grace_time() -> None:
    engine = Engine(working=True)
    async with watched(engine) as presence:
        presence.expect()
        await asyncio.sleep(59)
        with presence.listening():
            presence.expect()
            await asyncio.sleep(500)
            assert engine.torn == []
        await asyncio.sleep(500)
    assert engine.torn == [619.0]


async def test_UP_59_what_polls_lists_and_numbers_watches_no_run() -> None:
    engine = Engine(working=True)
    async with watched(engine) as presence:
        with presence.listening():
            await asyncio.sleep(10)
        for _ in range(100):
            await asyncio.sleep(5)
            presence.touch()
    assert engine.torn == [70.0]


async def test_each_time_that_all_have_left_is_one_of_its_own() -> None:
    engine = Engine(working=True)
    async with watched(engine) as presence:
        for _ in range(2):
            with presence.listening():
                await asyncio.sleep(10)
            await asyncio.sleep(90)
    assert engine.torn == [70.0, 170.0]


async def test_teardown_can_be_switched_off() -> None:
    engine = Engine(working=True)
    async with watched(engine, grace=None) as presence:
        with presence.listening():
            await asyncio.sleep(1)
        await asyncio.sleep(5000)
    assert engine.torn == []


async def test_an_idle_engine_leaves_once_when_its_last_run_has_ended() -> None:
    engine = Engine(working=True)
    async with watched(engine, idle=60.0):
        await asyncio.sleep(300)
        assert engine.left == []
        engine.working = False
        await asyncio.sleep(300)
    assert len(engine.left) == 1
    assert 300 <= engine.left[0] <= 303


async def test_a_request_is_company_for_the_idle_time() -> None:
    engine = Engine()
    async with watched(engine, idle=60.0) as presence:
        for _ in range(10):
            await asyncio.sleep(50)
            presence.touch()
        assert engine.left == []
        await asyncio.sleep(100)
    assert 560 <= engine.left[0] <= 563


async def test_a_torn_down_engine_leaves_too() -> None:
    engine = Engine(working=True)
    async with watched(engine, grace=60.0, idle=60.0) as presence:
        with presence.listening():
            await asyncio.sleep(10)
        await asyncio.sleep(300)
    assert engine.torn == [70.0]
    assert 70 <= engine.left[0] <= 73
