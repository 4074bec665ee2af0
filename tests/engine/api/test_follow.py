"""Long outputs on their way to a listener: one event is one line, however long."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator

from loop_ls.client.follow import _events

LENGTH, CHUNK = 16_000_000, 4_096


async def test_the_price_of_a_long_output_grows_with_its_length_only() -> None:
    line = b"data: " + json.dumps({"output": "x" * LENGTH}).encode() + b"\n\nevent: bye\ndata: {}\n\n"

    async def chunks() -> AsyncIterator[bytes]:
        for at in range(0, len(line), CHUNK):
            yield line[at : at + CHUNK]

    began = time.process_time()
    heard = [(name, len(data.get("output", ""))) async for name, data in _events(chunks(), asyncio.Event())]
    assert heard == [("", LENGTH), ("bye", 0)]
    assert time.process_time() - began < 5, "copying all that came at each piece takes far longer"
