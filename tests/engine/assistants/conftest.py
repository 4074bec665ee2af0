"""One workspace and one engine for each test; closed when it ends."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.engine.assistants.support.project import EngineProject
from tests.engine.assistants.support.served import ServedProject, serving


@pytest.fixture
async def project(tmp_path: Path) -> AsyncIterator[EngineProject]:
    project = EngineProject(tmp_path)
    yield project
    await project.close()


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[ServedProject]:
    """Programs are confirmed already."""
    async with serving(tmp_path) as made:
        await made.agree()
        yield made
