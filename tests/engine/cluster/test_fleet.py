"""Three workers as real processes: one is killed, one is cut off from the database for longer than its lease."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from loop_ls.testing.postgres import PostgresServer
from tests.soak.fleet import Fleet
from tests.soak.model import ModelServer

pytestmark = pytest.mark.long


LOOPS, ITERATIONS, AT_ONCE = 40, 6, 8


@pytest.mark.timeout(240)
async def test_loops_go_on_elsewhere_and_nothing_finished_is_paid_again(
    postgres: PostgresServer, database: str, tmp_path: Path
) -> None:
    model = ModelServer(ITERATIONS, 0.1)
    await model.start()
    fleet = Fleet(tmp_path, database, postgres.port, model, AT_ONCE)
    await fleet.open()
    try:
        killed, cut, _ = await asyncio.gather(fleet.worker(), fleet.worker(cuttable=True), fleet.worker())
        await fleet.start(LOOPS)
        async with asyncio.timeout(60):
            while not (await fleet.owned_by(killed) and await fleet.owned_by(cut)) or sum(model.asked.values()) < 30:
                await asyncio.sleep(0.05)
        lost = await fleet.owned_by(killed)
        at = asyncio.get_running_loop().time()
        killed.kill()
        assert cut.proxy is not None
        cut.proxy.cut()
        async with asyncio.timeout(60):
            while not {run_id for _, run_id in fleet.recovered} >= set(lost) - set(fleet.ended):
                await asyncio.sleep(0.02)
        took = max((when - at for when, run_id in fleet.recovered if run_id in lost), default=0.0)
        cut.proxy.heal()
        await fleet.all_ended(120)
        found = await fleet.verdict()
    finally:
        await fleet.close()
        model.close()
    assert found["reasons"] == {"condition_met": LOOPS}, found
    assert (found["finished calls repeated"], found["gaps"], found["facts doubled"]) == ([], [], []), found
    assert lost
    assert took < 15  # 5 on a machine that is not busy with other tests
    assert model.most <= AT_ONCE + 3  # what was cut off goes on for a moment, and its places are given to others
