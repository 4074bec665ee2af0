"""Engines in processes of their own, for the tests in this folder."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any

import pytest

from loop_ls.testing.proxy import Proxy
from tests.engine.cluster.engine_processes import EngineProcess, ForkServer, Workload

Open = Callable[..., Awaitable[EngineProcess]]


@pytest.fixture(scope="session")
def fork_server() -> Iterator[ForkServer]:
    made = ForkServer()
    yield made
    made.close()


@pytest.fixture
async def open_engine(fork_server: ForkServer, database: str) -> AsyncIterator[Open]:
    made: list[EngineProcess] = []

    async def one(name: str, workload: Workload, proxy: Proxy | None = None, **more: Any) -> EngineProcess:
        made.append(await EngineProcess.open(fork_server, name, database, workload, proxy, **more))
        return made[-1]

    yield one
    await asyncio.gather(*(each.close() for each in made))
