"""A project whose calls cost one cent for each character of an answer, and nothing for a prompt."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.engine.control.support.project import Project

PRICE = "providers: {ollama: {price: {input: 0, output: 10000}}}\n"


@pytest.fixture
async def project(tmp_path: Path) -> AsyncIterator[Project]:
    made = Project(tmp_path)
    made.settings(PRICE)
    made.models.script["write"] = ["w" * 50]
    await made.open()
    yield made
    await made.close()
