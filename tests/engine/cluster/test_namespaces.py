"""A worker on a host of its own, in a network namespace, whose cable is pulled for longer than its lease."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from loop_ls.testing.postgres import PostgresServer
from tests.soak.fleet import Fleet
from tests.soak.model import ModelServer
from tests.soak.namespace import Namespace, NoNamespace

pytestmark = pytest.mark.long


LOOPS, ITERATIONS = 12, 6


@pytest.fixture
def host() -> Iterator[Namespace]:
    made = Namespace(f"test-{os.getpid()}", os.getpid() % 250 + 2)
    try:
        made.open()
    except NoNamespace as reason:
        pytest.skip(f"{reason} (test_fleet has the same with a network that is cut in between)")
    yield made
    made.close()


@pytest.fixture
def server(host: Namespace) -> Iterator[PostgresServer]:
    made = PostgresServer(also=host.network).start()
    yield made
    made.stop()


@pytest.mark.timeout(240)
async def test_a_host_whose_cable_is_pulled_loses_its_loops_to_others_and_pays_nothing_twice(
    host: Namespace, server: PostgresServer, tmp_path: Path
) -> None:
    model = ModelServer(ITERATIONS, 0.1)
    await model.start(host.here)
    fleet = Fleet(tmp_path, server.database(), server.port, model, at_once=8)
    await fleet.open()
    try:
        far, near = await asyncio.gather(fleet.worker(host=host), fleet.worker())
        await fleet.start(LOOPS)
        async with asyncio.timeout(60):
            while not (await fleet.owned_by(far) and await fleet.owned_by(near)) or sum(model.asked.values()) < 15:
                await asyncio.sleep(0.05)
        lost = await fleet.owned_by(far)
        host.cut()
        async with asyncio.timeout(60):
            while not {run_id for _, run_id in fleet.recovered} >= set(lost) - set(fleet.ended):
                await asyncio.sleep(0.02)
        assert far.process.returncode is None  # it waits for its network
        host.heal()
        await fleet.all_ended(120)
        found = await fleet.verdict()
    finally:
        await fleet.close()
        model.close()
    assert found["reasons"] == {"condition_met": LOOPS}, found
    assert (found["finished calls repeated"], found["gaps"], found["facts doubled"]) == ([], [], []), found
    assert lost
