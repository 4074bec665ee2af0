"""Long outputs on their way to a listener: one event is one line, however long."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from loop_ls.client import follow
from loop_ls.client.follow import _events

LENGTH, CHUNK = 4_000_000, 4_096


class Watched(bytearray):
    """Counts the bytes of what is copied or looked through as a whole."""

    looked_at = 0

    def _look(self) -> None:
        Watched.looked_at += len(self)

    def split(self, *given: Any) -> list[bytearray]:  # type: ignore[override]
        self._look()
        return super().split(*given)

    def __add__(self, more: Any) -> Watched:
        self._look()
        return Watched(super().__add__(more))

    def __contains__(self, part: Any) -> bool:
        self._look()
        return super().__contains__(part)


async def test_the_price_of_a_long_output_grows_with_its_length_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(follow, "bytearray", Watched, raising=False)
    monkeypatch.setattr(Watched, "looked_at", 0)
    line = b"data: " + json.dumps({"output": "x" * LENGTH}).encode() + b"\n\nevent: bye\ndata: {}\n\n"

    async def chunks() -> AsyncIterator[bytes]:
        for at in range(0, len(line), CHUNK):
            yield line[at : at + CHUNK]

    heard = [(name, len(data.get("output", ""))) async for name, data in _events(chunks(), asyncio.Event())]
    assert heard == [("", LENGTH), ("bye", 0)]
    assert LENGTH < Watched.looked_at < 2 * LENGTH, "not all that came so far again with each piece"
