"""How many calls a provider gets at once and in a minute, over all runs of the engine."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from loop_ls.engine.providers import Providers
from loop_ls.engine.providers.limits.rate_limits import Gate
from tests.engine.providers.conftest import Asked


async def test_calls_at_once_are_bounded_over_all_runs() -> None:
    house, running, most = Providers({}), 0, 0
    settings: dict[str, Any] = {"s": {"kind": "scripted", "maxConcurrency": 3, "script": [{"say": "x"}]}}

    async def slow(seconds: float) -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        for _ in range(1 + 3 * running):  # they end one by one, not three at a time
            await real(0)
        running -= 1

    real = asyncio.sleep
    with pytest.MonkeyPatch.context() as patch:
        # Not the function of the module itself: other threads sleep as well.
        patch.setattr(
            "loop_ls.engine.providers.scripted.provider.asyncio", SimpleNamespace(sleep=slow, timeout=asyncio.timeout)
        )
        runs = [Asked(house.models(settings)) for _ in range(4)]
        await asyncio.gather(*(ask("s") for ask in runs for _ in range(5)))
    assert most == 3


async def test_a_cancelled_caller_gives_its_place_back() -> None:
    gate = Gate(1, None)
    async with gate.passing():
        waiting = asyncio.create_task(gate.passing().__aenter__())
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
    async with asyncio.timeout(60), gate.passing():
        pass


async def test_calls_in_a_minute_are_spread_in_order(monkeypatch: Any) -> None:
    now, slept = 0.0, []

    async def sleep(seconds: float) -> None:
        slept.append(round(seconds))

    monkeypatch.setattr("loop_ls.engine.providers.limits.rate_limits.asyncio.sleep", sleep)
    gate, waits = Gate(None, 2, lambda: now), []
    for _ in range(5):
        async with gate.passing(waits.append):
            pass
    assert slept == [60, 60, 120]
    assert [round(wait) for wait in waits] == [60, 60, 120]
    now = 61.0
    async with gate.passing():
        pass
    assert slept[-1] == 59  # with the fifth, behind the two of the second minute


async def test_tokens_in_a_minute_are_spread_and_what_was_really_used_counts(monkeypatch: Any) -> None:
    slept: list[int] = []

    async def sleep(seconds: float) -> None:
        slept.append(round(seconds))

    monkeypatch.setattr("loop_ls.engine.providers.limits.rate_limits.asyncio", SimpleNamespace(sleep=sleep))
    gate = Gate(None, None, lambda: 0.0, tokens=100)
    async with gate.passing(tokens=90) as spent:
        spent(20)  # it was shorter than it might have been
    async with gate.passing(tokens=80):
        pass
    assert slept == []
    async with gate.passing(tokens=50):
        pass
    assert slept == [60]
    async with gate.passing(tokens=500):  # larger than the whole limit: alone in its minute
        pass
    assert slept == [60, 120]


async def test_who_gives_up_while_waiting_leaves_no_gap() -> None:
    gate = Gate(None, 1)
    async with gate.passing():
        pass
    for _ in range(3):
        waiting = asyncio.ensure_future(gate.passing().__aenter__())
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
    waits: list[float] = []
    later = asyncio.ensure_future(gate.passing(waits.append).__aenter__())
    await asyncio.sleep(0)
    assert round(waits[0]) == 60
    later.cancel()
    await asyncio.gather(later, return_exceptions=True)


async def test_all_runs_share_the_tokens_of_a_provider_and_hear_why_they_wait(monkeypatch: Any) -> None:
    house = Providers({})
    settings = {"s": {"kind": "scripted", "tokensPerMinute": 600, "script": [{"say": "x" * 2000}]}}
    one, other = Asked(house.models(settings)), Asked(house.models(settings))
    await one("s", max_tokens=500)
    waiting = asyncio.ensure_future(other("s", max_tokens=500))
    for _ in range(20):
        await asyncio.sleep(0)
    assert [wait.because for wait in other.waits] == ["600 tokens a minute"]
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
