"""Clients of Socket.IO through loops of many iterations that last longer than any limit of a request: nothing is
missed, nothing comes twice, nobody is cut off. The client in JavaScript is tried in `tests/real_clis`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.engine.assistants.support.long_loops import ITERATIONS, LOOPS, ended, iterations, looped, prepared
from tests.engine.assistants.support.served import FIXER, serving

pytestmark = [pytest.mark.long, pytest.mark.timeout(400)]


async def test_clients_of_both_transports_hear_every_iteration_of_long_loops_once(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        await prepared(served)
        clients = [await served.socket(transport=each) for each in ("websocket", "polling", "websocket", "polling")]
        left: list[Any] = []
        for client in clients:
            client.io.on("disconnect", lambda *why: left.append(why))
        await looped(served, clients[0], LOOPS)
        for client in clients:
            await ended(client, LOOPS)
            assert iterations(client) == [*range(1, ITERATIONS + 1)] * LOOPS
            assert {data["agentId"] for data in client.of("agent:loop_iteration")} == {FIXER}
        assert left == []
