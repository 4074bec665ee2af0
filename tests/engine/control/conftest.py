"""Engines for tests of control: each is closed when its test ends."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from loop_ls.engine.service import Engine
from tests.engine.control.support.words import Opened


@pytest.fixture
async def opened() -> AsyncIterator[Opened]:
    engines: list[Engine] = []

    async def opening(engine: Engine) -> Engine:
        await engine.open()
        engines.append(engine)
        return engine

    yield opening
    for engine in engines:
        await engine.close()
