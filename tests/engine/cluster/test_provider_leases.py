"""Limits of a provider hold in all processes together, and a process that dies holds up nobody."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import psycopg
import pytest

from loop_ls.engine.durable.provider_leases import PostgresSlots
from loop_ls.engine.journal.postgres import PostgresStorage
from loop_ls.engine.providers.limits import shared_limits
from loop_ls.engine.providers.limits.shared_limits import SharedGate


class Member:
    def __init__(self, database: str) -> None:
        self.places = PostgresSlots(database)

    def gate(self, at_once: int | None = None, per_minute: int | None = None, tokens: int | None = None) -> SharedGate:
        return SharedGate(self.places, "acme", at_once, per_minute, tokens)


@pytest.fixture
def members(database: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Member]]:
    monkeypatch.setattr(shared_limits, "LOOK_AGAIN", 0.05)
    PostgresStorage(database).close()
    made = [Member(database), Member(database)]
    yield made
    for member in made:
        member.places.close()


async def test_calls_at_once_are_counted_over_all_processes(members: list[Member]) -> None:
    gates = [member.gate(at_once=2) for member in members]
    now = most = 0

    async def call(gate: SharedGate) -> None:
        nonlocal now, most
        async with gate.passing():
            now += 1
            most = max(most, now)
            await asyncio.sleep(0.02)
            now -= 1

    async with asyncio.timeout(60):
        await asyncio.gather(*(call(gates[n % 2]) for n in range(12)))
    assert most == 2


async def test_calls_in_a_minute_are_counted_over_all_processes(members: list[Member], database: str) -> None:
    waits: list[float] = []
    for member in members:
        async with member.gate(per_minute=2).passing(waits.append):
            pass
    assert waits == []
    third = asyncio.create_task(_pass(members[0].gate(per_minute=2), waits))
    async with asyncio.timeout(60):
        while not waits:
            await asyncio.sleep(0.01)
    assert 50 < waits[0] <= 60
    with psycopg.connect(database, autocommit=True) as db:
        db.execute("update loop_ls.passed set at = at - interval '1 minute'")
    await asyncio.wait_for(third, 60)


async def test_tokens_in_a_minute_are_those_that_the_calls_did_take(members: list[Member]) -> None:
    async with members[0].gate(tokens=100).passing(tokens=90) as spent:
        spent(20)
    async with asyncio.timeout(60):
        await _pass(members[1].gate(tokens=100), [], 80)
    waits: list[float] = []
    more = asyncio.create_task(_pass(members[1].gate(tokens=100), waits, 1))
    async with asyncio.timeout(60):
        while not waits:
            await asyncio.sleep(0.01)
    more.cancel()
    await asyncio.wait({more})


async def test_the_places_of_a_dead_process_are_free_again(members: list[Member]) -> None:
    held = members[0].gate(at_once=1).passing()
    await held.__aenter__()
    waiting = asyncio.create_task(_pass(members[1].gate(at_once=1), []))
    done, _ = await asyncio.wait({waiting}, timeout=0.1)
    assert not done
    members[0].places.close()  # as the connection of a process that is killed
    await asyncio.wait_for(waiting, 60)
    await held.__aexit__(None, None, None)


async def _pass(gate: SharedGate, waits: list[float], tokens: int = 0) -> None:
    async with gate.passing(waits.append, tokens) as spent:
        if tokens:
            spent(tokens)
