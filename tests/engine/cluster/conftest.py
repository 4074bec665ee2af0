"""Cells of the tests in this folder."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any

import pytest

from loop_ls.testing.proxy import Proxy
from tests.engine.cluster.cells import Cell, Nursery, World

Open = Callable[..., Awaitable[Cell]]


@pytest.fixture(scope="session")
def nursery() -> Iterator[Nursery]:
    made = Nursery()
    yield made
    made.close()


@pytest.fixture
async def cell(nursery: Nursery, database: str) -> AsyncIterator[Open]:
    made: list[Cell] = []

    async def one(name: str, world: World, proxy: Proxy | None = None, **more: Any) -> Cell:
        made.append(await Cell.open(nursery, name, database, world, proxy, **more))
        return made[-1]

    yield one
    await asyncio.gather(*(each.close() for each in made))
