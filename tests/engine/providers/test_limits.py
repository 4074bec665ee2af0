"""How many calls a provider gets at once and in a minute, over all runs of the engine."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from loop_ls.engine.providers import Providers
from loop_ls.engine.providers.limits import Gate
from tests.engine.providers.conftest import Asked


async def test_calls_at_once_are_bounded_over_all_runs() -> None:
    house, running, most = Providers({}), 0, 0
    settings: dict[str, Any] = {"s": {"kind": "scripted", "maxConcurrency": 3, "script": [{"say": "x"}]}}

    async def slow(seconds: float) -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        for _ in range(5):
            await real(0)
        running -= 1

    real = asyncio.sleep
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("loop_ls.engine.providers.scripted.asyncio.sleep", slow)
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
    async with asyncio.timeout(1), gate.passing():
        pass


async def test_calls_in_a_minute_are_spread_in_order(monkeypatch: Any) -> None:
    now, slept = 0.0, []

    async def sleep(seconds: float) -> None:
        slept.append(round(seconds))

    monkeypatch.setattr("loop_ls.engine.providers.limits.asyncio.sleep", sleep)
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
