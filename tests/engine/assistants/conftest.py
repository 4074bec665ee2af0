"""One workspace and one engine for each test; closed when it ends."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.engine.assistants.support.house import House
from tests.engine.assistants.support.served import Served, served


@pytest.fixture
async def it(tmp_path: Path) -> AsyncIterator[House]:
    house = House(tmp_path)
    yield house
    await house.close()


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[Served]:
    """Programs are confirmed already."""
    async with served(tmp_path) as made:
        await made.agree()
        yield made
