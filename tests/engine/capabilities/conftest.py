"""A clone of a hostile repository, the engine over it, and what would show that something happened."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from loop_ls.app.engine import build
from loop_ls.engine.providers import Providers
from tests.engine.capabilities.hostile import REPOSITORIES, SECRET, SECRET_NAME, Canary, Json, written

ENDS = ("completed", "failed", "cancelled")


class Victim:
    def __init__(self, folder: Path) -> None:
        self.root, self.data, self.marker = folder / "clone", folder / "data", folder / "marker"
        self.root.mkdir()
        self.connections = 0

    async def open(self) -> None:
        self.listener = await asyncio.start_server(self._called, "127.0.0.1", 0)
        self.bait = Canary(self.marker, self.listener.sockets[0].getsockname()[1])
        self.providers = Providers(log_folder=self.data)
        self.engine = build(self.data, self.providers, self.root)
        await self.engine.open()

    async def close(self) -> None:
        await self.engine.close()
        await self.providers.aclose()
        self.listener.close()

    async def _called(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        writer.close()

    def clone(self, name: str) -> Json:
        argument = written(REPOSITORIES[name](self.bait), self.root)
        self.before = self.files()
        return argument

    def files(self) -> dict[str, bytes]:
        return {str(path): path.read_bytes() for path in self.root.rglob("*") if path.is_file()}

    async def ended(self, run_id: str) -> list[Json]:
        async with asyncio.timeout(60):
            async for _, event in self.engine.subscribe(after=0, run_id=run_id):
                if event["kind"] in ENDS:
                    break
        return list((await self.engine.events(run_id, limit=1000))["events"])

    def is_unharmed(self, *told: Any, keeps: bool = False) -> None:
        """`keeps`: its own record may hold what it put into texts."""
        assert not self.marker.exists(), "a program was started"
        assert self.connections == 0, "something was sent"
        assert self.files() == self.before, "a file was written"
        assert SECRET not in json.dumps(told)
        if keeps:
            return
        kept = [path for path in self.data.rglob("*") if path.is_file() and not path.name.startswith("engine")]
        assert not [path for path in kept if SECRET.encode() in path.read_bytes()], "a secret was kept"


@pytest.fixture
async def victim(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Victim]:
    monkeypatch.setenv(SECRET_NAME, SECRET)
    found = Victim(tmp_path)
    await found.open()
    yield found
    await found.close()
